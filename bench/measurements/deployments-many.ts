/** Applications to many clusters and off them again, beside a loop that makes the same calls: time, processor time and memory. */
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { bareLoop, type LoopUsage } from '../bare-loop.ts';
import { cpuOf } from '../bare-run.ts';
import { appOf, labelled } from '../deployment-objects.ts';
import {
  ask,
  type DeploymentsBench,
  makeDeployment,
  PROVIDER,
  removeDeployment,
  untilState,
} from '../deployments-place.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';
import { median } from '../statistics.ts';

const ROUNDS = 2;
/** Apps of a deployment, which go to a cluster beside each other: as many as requests are in flight there by default. */
const APPS = 5;
const PER_APP = 40;
const WALL_RATIO = 2;
const CPU_RATIO = 3;
const BAR_MB = 500;
const NAME = 'many';
const WARM = 'warm';
const LOOK_MS = 250;

type Phase = 'apply' | 'delete';

export async function measureDeploymentsMany({ stack, members }: DeploymentsBench): Promise<Measurement[]> {
  const apps = Array.from({ length: APPS }, (_, index) => appOf(`app${index}`, PER_APP));
  const objects = apps.flatMap((app) => app.objects.map((object) => labelled(object, { 'bench/app': app.name })));
  const where = { provider: PROVIDER, label: 'all' };
  // What is loaded for the first time counts on neither side.
  await warmUp({ stack, members });
  const idle = await memoryOf(stack);
  await makeDeployment(stack, NAME, apps, where, { instantiate: false });
  const bare: Record<Phase, LoopUsage[]> = { apply: [], delete: [] };
  const muster: Record<Phase, LoopUsage[]> = { apply: [], delete: [] };
  const memory: number[] = [];
  const runBare = async () => {
    bare.apply.push(await bareLoop(members, objects, 'apply', APPS));
    bare.delete.push(await bareLoop(members, objects, 'remove', APPS));
  };
  const runMuster = async () => {
    muster.apply.push(await measured(stack, 'instantiate', 'Instantiated'));
    memory.push((await memoryOf(stack)) - idle);
    muster.delete.push(await measured(stack, 'terminate', 'Terminated'));
    await ask(stack, NAME, 'approve');
  };
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    // Each is first in turn: an API server is not the same after ten thousand objects.
    for (const run of turn % 2 === 0 ? [runBare, runMuster] : [runMuster, runBare]) await run();
    tell(turn, bare, muster);
  }
  await removeDeployment(stack, NAME);
  const what = `${members.length} clusters x ${objects.length} resources`;
  return [
    held(`${what} to Instantiated, beside raw applies`, bare.apply, muster.apply),
    held(`${what} to Terminated, beside GET and DELETE`, bare.delete, muster.delete),
    {
      what: `memory of worker and API after ${what}`,
      bar: `idle + ${BAR_MB} MB`,
      measured: `idle ${round(idle, 0)} MB + ${memory.map((value) => round(value, 0)).join(', ')} MB`,
      met: Math.max(...memory) <= BAR_MB,
      samples: { megabytes: [idle, ...memory].map((value) => round(value, 1)) },
    },
  ];
}

async function warmUp({ stack, members }: DeploymentsBench): Promise<void> {
  const app = appOf(WARM, 4);
  for (const call of ['apply', 'remove'] as const) await bareLoop(members, app.objects, call, APPS);
  await makeDeployment(stack, WARM, [app], { provider: PROVIDER, label: 'all' });
  await untilState(stack, WARM, 'Instantiated', LOOK_MS);
  await removeDeployment(stack, WARM);
}

/** Makes a life-cycle call and waits for its end. Returns its time, and the processor time of the worker. */
async function measured(
  stack: MusterStack,
  call: 'instantiate' | 'terminate',
  state: 'Instantiated' | 'Terminated',
): Promise<LoopUsage> {
  const worker = await stack.pidOf('worker');
  const [began, cpu] = [performance.now(), await cpuOf(worker)];
  await ask(stack, NAME, call);
  await untilState(stack, NAME, state, LOOK_MS);
  return { wall: (performance.now() - began) / 1_000, cpu: (await cpuOf(worker)) - cpu };
}

/** Worker and API, MB. */
async function memoryOf(stack: MusterStack): Promise<number> {
  const pids = await Promise.all([stack.pidOf('api'), stack.pidOf('worker')]);
  return megabytes((await Promise.all(pids.map(memoryMiB))).reduce((sum, value) => sum + value, 0));
}

function held(what: string, bare: LoopUsage[], muster: LoopUsage[]): Measurement {
  const ratio = (of: keyof LoopUsage) =>
    median(muster.map((usage, index) => usage[of] / (bare[index]?.[of] ?? Number.NaN)));
  const [wall, cpu] = [ratio('wall'), ratio('cpu')];
  const middle = (usages: LoopUsage[], of: keyof LoopUsage) => round(median(usages.map((usage) => usage[of])), 1);
  return {
    what,
    bar: `<= ${WALL_RATIO} x bare, wall; worker <= ${CPU_RATIO} x CPU`,
    measured:
      `wall ${round(wall)} x, bare ${middle(bare, 'wall')} s; ` +
      `CPU ${round(cpu)} x, worker ${middle(muster, 'cpu')} s, loop ${middle(bare, 'cpu')} s`,
    met: wall <= WALL_RATIO && cpu <= CPU_RATIO,
    samples: Object.fromEntries(
      Object.entries({ bare, muster }).flatMap(([name, usages]) =>
        (['wall', 'cpu'] as const).map((of) => [`${name}_${of}`, usages.map((usage) => round(usage[of], 2))]),
      ),
    ),
  };
}

function tell(turn: number, bare: Record<Phase, LoopUsage[]>, muster: Record<Phase, LoopUsage[]>): void {
  const said = (['apply', 'delete'] as const).map((phase) => {
    const [loop, own] = [bare[phase][turn], muster[phase][turn]];
    return `${phase} ${round(own?.wall ?? 0)} s, bare ${round(loop?.wall ?? 0)} s`;
  });
  process.stderr.write(`  round ${turn + 1}: ${said.join('; ')}\n`);
}
