/** Two processes of one operator over a hundred custom resources that change all the time, while one of them is killed or cut off in each round. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import { openProxy, type TcpProxy } from '../../test/support/fakes/tcp-proxy.ts';
import { openClusterWay } from '../../test/support/operator/cluster-way.ts';
import {
  type Call,
  type OperatorBench,
  type RunningOperator,
  WIDGETS,
} from '../../test/support/operator/operator-process.ts';
import { isRunning } from '../../test/support/operator/run-reads.ts';
import type { Measurement } from '../measurement.ts';
import { countOutcomes, createMany, untilIdle, withOperators } from '../operator-place.ts';

const COUNT = 100;
/** Each lasts a minute. */
const ROUNDS = Number(process.env.MUSTER_BENCH_MINUTES ?? 10);
const ROUND_MS = 60_000;
/** Longer than the lease of a process (15 s) and the end of its runs (10 s). */
const CUT_MS = 30_000;
const DEAD_MS = 10_000;
/** Of the kind, and of one process. */
const AT_ONCE = 4;
const OF_ONE = 3;
const RUN_SECONDS = 1;
/** Now and then a run takes longer than the lease of a process. */
const [LONG_SECONDS, LONG_EACH] = [20, 30];
/** Between two changes, and between two looks at the processes of runs, ms. */
const CHANGE_MS = 700;
const LOOK_MS = 250;
/** Longer nothing is waited for after the last round, ms. */
const MOST_MS = 600_000;

/** One of the two processes, and its ways to all that it needs. */
interface Replica {
  kill(): Promise<void>;
  begin(): Promise<void>;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export function measureOperatorReplicas(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    const replicas = [await openReplica(bench, 'one'), await openReplica(bench, 'two')];
    const [seen, stop] = [new Map<string, number>(), new AbortController()];
    const began = performance.now();
    try {
      const sizes = new Map<string, number>();
      const names = Array.from({ length: COUNT }, (_, index) => `many-${index}`);
      await createMany(bench, names, { size: 0, seconds: RUN_SECONDS });
      const looking = look(bench, seen, stop.signal);
      const changes = new AbortController();
      const changing = change(bench, names, sizes, changes.signal);
      for (let round = 0; round < ROUNDS; round += 1) await breakOne(replicas, round);
      changes.abort();
      await changing;
      const isDone = await settled(bench);
      stop.abort();
      await looking;
      const { together, most } = crowded(bench.calls(), seen);
      const stale = names.filter((name) => lastSize(bench, name) !== String(sizes.get(name) ?? 0)).length;
      const running = await countRunning(bench);
      const outcomes = [...(await countOutcomes(bench))].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
      return {
        what: `${COUNT} custom resources, two processes, ${ROUNDS} kills and cuts, one each ${ROUND_MS / 1_000} s`,
        bar: `no two runs of a resource at once, at most ${AT_ONCE} of the kind; none left in Running; the last spec of each ran`,
        measured: `${together} at once, ${most} of the kind; ${running} in Running, ${stale} without their last spec; ${outcomes}${isDone ? '' : '; not idle'}`,
        met: isDone && together === 0 && most <= AT_ONCE && running === 0 && stale === 0,
        samples: { seconds: [Math.round((performance.now() - began) / 1_000)], runs: [bench.calls().length] },
      };
    } finally {
      stop.abort();
      for (const replica of replicas) await replica.cut();
    }
  });
}

async function openReplica(bench: OperatorBench, name: string): Promise<Replica> {
  const url = new URL(bench.databaseUrl);
  const temporal = process.env.MUSTER_TEST_TEMPORAL_ADDRESS ?? '';
  const ways: TcpProxy[] = [await openProxy(url.host), await openProxy(temporal)];
  const [database, engine] = ways.map(({ address }) => address);
  url.host = database ?? '';
  const cluster = await openClusterWay(bench, `kubeconfig-${name}`);
  ways.push(cluster);
  const start = () =>
    bench.start({
      data: join(bench.home, `.data-${name}`),
      args: ['--max-concurrent-reconciles', String(AT_ONCE), '--max-concurrent-runs', String(OF_ONE)],
      env: {
        KUBECONFIG: cluster.kubeconfig,
        MUSTER_DATABASE_URL: url.href,
        MUSTER_TEMPORAL_ADDRESS: engine ?? '',
      },
    });
  let running: RunningOperator = await start();
  return {
    kill: () => running.kill(),
    begin: async () => {
      running = await start();
    },
    cut: async () => {
      for (const way of ways) await way.cut();
    },
    mend: async () => {
      for (const way of ways) await way.mend();
    },
  };
}

/** Each of the processes is killed, and each is cut off from all that it needs, in turn. */
async function breakOne(replicas: readonly Replica[], round: number): Promise<void> {
  const until = performance.now() + ROUND_MS;
  const replica = replicas[Math.floor(round / 2) % replicas.length];
  if (round % 2 === 0) {
    await replica?.kill();
    await delay(DEAD_MS);
    await replica?.begin();
  } else {
    await replica?.cut();
    await delay(CUT_MS);
    await replica?.mend();
  }
  await delay(Math.max(0, until - performance.now()));
}

/** Changes a resource now and then; `sizes`: of each the last one that was written. */
async function change(
  bench: OperatorBench,
  names: readonly string[],
  sizes: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  for (let size = 1; !signal.aborted; size += 1) {
    // Neighbours in the list do not follow each other.
    const name = names[(size * 37) % names.length] ?? '';
    await bench.change(name, { size, seconds: size % LONG_EACH === 0 ? LONG_SECONDS : RUN_SECONDS });
    sizes.set(name, size);
    await delay(CHANGE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Notes of each run that has not ended when it was last seen alive, s. */
async function look(bench: OperatorBench, seen: Map<string, number>, signal: AbortSignal): Promise<void> {
  const over = new Set<string>();
  while (!signal.aborted) {
    const calls = bench.calls();
    for (const { word, run } of calls) if (word === 'end') over.add(run);
    for (const { word, run, pid } of calls) {
      if (word !== 'begin' || over.has(run)) continue;
      if (commandOf(pid).includes(run)) seen.set(run, Date.now() / 1_000);
      else if (seen.has(run)) over.add(run);
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Waits until nothing runs and nothing is due; false: that took too long. */
async function settled(bench: OperatorBench): Promise<boolean> {
  const until = performance.now() + MOST_MS;
  while (performance.now() < until) {
    const open = await bench.db
      .selectFrom('operator_resources')
      .select('id')
      .where((is) => is.or([is('reconcile_id', 'is not', null), is('due_at', '<=', new Date())]))
      .execute();
    if (open.length === 0) {
      await untilIdle(bench);
      return true;
    }
    await delay(LOOK_MS);
  }
  return false;
}

/** How often a run began while another one of its resource went on, and how many went on at most. A run that was killed ends when it was last `seen`. */
function crowded(calls: readonly Call[], seen: ReadonlyMap<string, number>): { together: number; most: number } {
  const ends = new Map(calls.filter(({ word }) => word === 'end').map(({ run, at }) => [run, at]));
  const runs = calls
    .filter(({ word }) => word === 'begin')
    .map(({ name, run, at }) => ({ name, at, end: ends.get(run) ?? seen.get(run) ?? at }));
  let [together, most] = [0, 0];
  for (const one of runs) {
    const others = runs.filter((other) => other !== one && other.at <= one.at && one.at < other.end);
    together += others.filter(({ name }) => name === one.name).length;
    most = Math.max(most, others.length + 1);
  }
  return { together, most };
}

function lastSize(bench: OperatorBench, name: string): string | undefined {
  const ended = bench.calls().filter((call) => call.word === 'end' && call.name === name);
  return ended.at(-1)?.size;
}

async function countRunning({ client }: OperatorBench): Promise<number> {
  const { body } = await client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
  return body.items.filter(isRunning).length;
}
