/** How soon a cluster that was away for a short time is worked on again. */
import { setTimeout as delay } from 'node:timers/promises';
import { openProxy } from '../../test/support/fakes/tcp-proxy.ts';
import { mapsOf } from '../deployment-objects.ts';
import {
  type DeploymentsBench,
  makeDeployment,
  readSummary,
  registerCluster,
  registerProvider,
  removeDeployment,
  untilState,
} from '../deployments-place.ts';
import { type Measurement, round } from '../measurement.ts';

/** Outages, s. */
const OUTAGES = [1, 2, 3, 4, 5];
const RESOURCES = 400;
/** So many are applied before the cluster goes away. */
const BEFORE = 40;
const BAR_S = 5;
const LOOK_MS = 10;
const PROVIDER = 'bench-cut';
const CLUSTER = 'cut';

export async function measureDeploymentsRecovery({ stack, members }: DeploymentsBench): Promise<Measurement[]> {
  const [member] = members;
  if (member === undefined) throw new Error('there is no cluster');
  const config = JSON.parse(member.kubeconfig);
  const proxy = await openProxy(new URL(config.clusters[0].cluster.server).host);
  config.clusters[0].cluster.server = `https://${proxy.address}`;
  await registerProvider(stack, PROVIDER);
  await registerCluster(stack, PROVIDER, { name: CLUSTER, kubeconfig: JSON.stringify(config) }, []);
  const app = mapsOf('cut', RESOURCES);
  const samples: number[] = [];
  const applied = async (name: string) => (await readSummary(stack, name)).counts.Applied ?? 0;
  try {
    for (const outage of OUTAGES) {
      const name = `cut-${outage}`;
      await makeDeployment(stack, name, [app], { provider: PROVIDER, cluster: CLUSTER });
      while ((await applied(name)) < BEFORE) await delay(LOOK_MS);
      await proxy.cut();
      await delay(outage * 1_000);
      const before = await applied(name);
      if (before === RESOURCES) throw new Error(`all ${RESOURCES} resources were applied before the outage`);
      await proxy.mend();
      const began = performance.now();
      while ((await applied(name)) <= before) await delay(LOOK_MS);
      samples.push(round((performance.now() - began) / 1_000, 2));
      await untilState(stack, name, 'Instantiated', 100);
      await removeDeployment(stack, name);
    }
  } finally {
    await proxy.cut();
  }
  return [
    {
      what: `cluster back after ${OUTAGES[0]} to ${OUTAGES.at(-1)} s, to the next apply`,
      bar: `${BAR_S} s`,
      measured: `${samples.join(', ')} s`,
      met: Math.max(...samples) <= BAR_S,
      samples: { seconds: samples },
    },
  ];
}
