/** From a change in a cluster to the status that shows it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { openBareMember } from '../bare-member.ts';
import { labelled, mapsOf } from '../deployment-objects.ts';
import {
  type DeploymentsBench,
  makeDeployment,
  PROVIDER,
  readSummary,
  removeDeployment,
  untilState,
} from '../deployments-place.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

/** An object is removed and made again so often. */
const TURNS = 50;
const BAR_S = 2;
const LOOK_MS = 20;
const NAME = 'seen';
const APP = 'seen';

export async function measureDeploymentsEvent({ stack, members }: DeploymentsBench): Promise<Measurement[]> {
  const app = mapsOf(APP, 4);
  await makeDeployment(stack, NAME, [app], { provider: PROVIDER, label: 'all' });
  await untilState(stack, NAME, 'Instantiated', 250);
  const total = members.length * app.objects.length;
  while (((await seenOf(stack, '')).Present ?? 0) < total) await delay(250);
  const label = `${await instanceOf(stack)}-${APP}`;
  const samples: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const member = members[turn % members.length];
    const object = app.objects[turn % app.objects.length];
    if (member === undefined || object === undefined) throw new Error('there is no cluster');
    const bare = openBareMember(member.kubeconfig, 1);
    const query = `&cluster=${PROVIDER}%2B${member.name}&resource=${object.path.split('/').at(-1)}`;
    const until = async (status: 'NotPresent' | 'Present') => {
      const began = performance.now();
      while ((await seenOf(stack, query))[status] !== 1) await delay(LOOK_MS);
      samples.push(round((performance.now() - began) / 1_000, 3));
    };
    await bare.drop(object);
    await until('NotPresent');
    await bare.apply(labelled(object, { 'emco/deployment-id': label }));
    await until('Present');
    bare.close();
  }
  await removeDeployment(stack, NAME);
  const [p50, p95] = [quantile(samples, 0.5), quantile(samples, 0.95)];
  return [
    {
      what: `change in one of ${members.length} clusters to the status that shows it`,
      bar: `p95 ${BAR_S} s`,
      measured: `p50 ${round(p50)} s, p95 ${round(p95)} s, max ${round(Math.max(...samples))} s of ${samples.length} changes`,
      met: p95 <= BAR_S,
      samples: { seconds: samples },
    },
  ];
}

async function seenOf(stack: MusterStack, query: string): Promise<Record<string, number>> {
  const path = `/api/v1/deployments/${NAME}/status?type=all&output=summary${query}`;
  return (await stack.call('GET', path)).body['cluster-status'] ?? {};
}

async function instanceOf(stack: MusterStack): Promise<string> {
  const { status } = await readSummary(stack, NAME);
  const { body } = await stack.call('GET', `/api/v1/deployments/${NAME}`);
  if (typeof body.instance !== 'string') throw new Error(`${NAME} is ${status} and has no instance`);
  return body.instance;
}
