/** A small deployment to one cluster, from its POST until it is instantiated. */
import { bareLoop } from '../bare-loop.ts';
import { appOf } from '../deployment-objects.ts';
import {
  type DeploymentsBench,
  makeDeployment,
  PROVIDER,
  removeDeployment,
  secondsOf,
  untilState,
} from '../deployments-place.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

const ROUNDS = 7;
const RESOURCES = 3;
const ADDED_S = 1;
const LOOK_MS = 20;

export async function measureDeploymentsOne({ stack, members }: DeploymentsBench): Promise<Measurement[]> {
  const [member] = members;
  if (member === undefined) throw new Error('there is no cluster');
  const app = appOf('small', RESOURCES);
  const samples: { bare: number[]; muster: number[] } = { bare: [], muster: [] };
  // What is loaded for the first time counts on neither side.
  for (let turn = 0; turn <= ROUNDS; turn += 1) {
    const bare = await secondsOf(() => bareLoop([member], app.objects, 'apply', 1));
    await bareLoop([member], app.objects, 'remove', 1);
    const name = `one-${turn}`;
    const muster = await secondsOf(async () => {
      await makeDeployment(stack, name, [app], { provider: PROVIDER, cluster: member.name });
      await untilState(stack, name, 'Instantiated', LOOK_MS);
    });
    await removeDeployment(stack, name);
    if (turn === 0) continue;
    samples.bare.push(round(bare, 3));
    samples.muster.push(round(muster, 3));
  }
  const [bare, muster] = [median(samples.bare), median(samples.muster)];
  return [
    {
      what: `one cluster, ${RESOURCES} resources, POST to Instantiated`,
      bar: `bare + ${ADDED_S} s`,
      measured: `bare ${round(bare)} s + ${round(muster - bare)} s`,
      met: muster - bare <= ADDED_S,
      samples,
    },
  ];
}
