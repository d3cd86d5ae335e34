/** What Muster adds to a bare run: wall clock and processor time, in rounds of both one after the other. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { filesOfRun, type MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type BareRun, bareRun, cpuOf, type Usage } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

export interface Rounds {
  bare: Usage[];
  muster: Usage[];
}

export async function measureRounds(
  stack: MusterStack,
  options: { rounds: number; configuration: string; limit: string; bare: BareRun | readonly BareRun[] },
): Promise<Rounds> {
  const { rounds, configuration, limit } = options;
  const bare = [options.bare].flat();
  const result: Rounds = { bare: [], muster: [] };
  // One of each to warm caches: imports, page cache, mirror.
  await bareRuns(bare);
  await measuredSession(stack, configuration, limit, 'warm', bare.length);
  for (let index = 0; index < rounds; index += 1) {
    result.bare.push(await bareRuns(bare));
    result.muster.push(await measuredSession(stack, configuration, limit, String(index), bare.length));
  }
  return result;
}

/** One after the other: what the layers of a session take. */
export async function bareRuns(works: readonly BareRun[]): Promise<Usage> {
  const sum: Usage = { wall: 0, cpu: 0 };
  for (const work of works) {
    const { wall, cpu } = await bareRun(work);
    sum.wall += wall;
    sum.cpu += cpu;
  }
  return sum;
}

/** One session from POST to `complete`, seen by a client that asks often; processor time of run, API and worker. */
export async function measuredSession(
  stack: MusterStack,
  configuration: string,
  limit: string,
  label: string,
  layers = 1,
): Promise<Usage> {
  const own = await Promise.all([stack.pidOf('api'), stack.pidOf('worker')]);
  const before = (await Promise.all(own.map(cpuOf))).reduce((a, b) => a + b);
  const started = performance.now();
  const name = await stack.create(`b-${configuration}-${label}-${Date.now() % 1e6}`, configuration, {
    ansible_limit: limit,
  });
  await untilComplete(stack, name, started);
  const wall = (performance.now() - started) / 1000;
  const after = (await Promise.all(own.map(cpuOf))).reduce((a, b) => a + b);
  const session = await stack.session(name);
  if (session.status.session.succeeded !== 'true') throw new Error(session.status.session.message);
  let cpu = after - before;
  for (let layer = 0; layer < layers; layer += 1) {
    cpu += JSON.parse(await readFile(filesOfRun(stack, `${session.id}-1-${layer}`).exit, 'utf8')).cpu_seconds;
  }
  return { wall, cpu };
}

/** Asks the more seldom the longer it takes, so that asking adds 2 % at most to either figure. */
export async function untilComplete(stack: MusterStack, name: string, started: number): Promise<void> {
  for (;;) {
    const { body } = await stack.call('GET', `/v3/sessions/${name}`);
    if (body.status.session.status === 'complete') return;
    await delay(Math.max(20, (performance.now() - started) * 0.02));
  }
}

/** Held against bare + so many seconds; `middle` says what counts of the rounds. */
export function heldBySeconds(
  what: string,
  { bare, muster }: Record<'bare' | 'muster', Pick<Usage, 'wall'>[]>,
  seconds: number,
  middle: (samples: number[]) => number = median,
): Measurement {
  const added = muster.map((usage, index) => usage.wall - (bare[index]?.wall ?? 0));
  return {
    what,
    bar: `bare + ${seconds} s`,
    measured: `bare ${round(middle(bare.map((usage) => usage.wall)))} s + ${round(middle(added))} s`,
    met: middle(added) <= seconds,
    samples: { bare: bare.map((usage) => round(usage.wall, 3)), muster: muster.map((usage) => round(usage.wall, 3)) },
  };
}

/** Held against so many times bare by the wall clock; what a warm process spends for several sessions is in no figure of one. */
export function heldByWall(what: string, { bare, muster }: Rounds, ratio: number): Measurement {
  const wall = median(muster.map((usage, index) => usage.wall / (bare[index] ?? usage).wall));
  return {
    what,
    bar: `<= ${ratio} x bare, wall`,
    measured: `wall ${round(wall)} x, bare ${round(median(bare.map((usage) => usage.wall)))} s`,
    met: wall <= ratio,
    samples: {
      bare_wall: bare.map((usage) => round(usage.wall, 3)),
      muster_wall: muster.map((usage) => round(usage.wall, 3)),
    },
  };
}

/** Held against so many times bare, wall clock and processor time. */
export function heldByRatio(what: string, { bare, muster }: Rounds, ratio: number): Measurement {
  const ratios = (read: (usage: Usage) => number) =>
    muster.map((usage, index) => read(usage) / read(bare[index] ?? usage));
  const wall = median(ratios((usage) => usage.wall));
  const cpu = median(ratios((usage) => usage.cpu));
  return {
    what,
    bar: `<= ${ratio} x bare, wall and CPU`,
    measured: `wall ${round(wall)} x, CPU ${round(cpu)} x`,
    met: wall <= ratio && cpu <= ratio,
    samples: {
      bare_wall: bare.map((usage) => round(usage.wall, 3)),
      muster_wall: muster.map((usage) => round(usage.wall, 3)),
      bare_cpu: bare.map((usage) => round(usage.cpu, 3)),
      muster_cpu: muster.map((usage) => round(usage.cpu, 3)),
    },
  };
}
