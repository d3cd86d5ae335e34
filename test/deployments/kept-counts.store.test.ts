/** What is kept of calls to member clusters and of the events of an AppContext, however much there is of it. */
import { expect, test } from '@jest/globals';
import { createCallCounts, keepCounts } from '../../control/deployments/count-calls.ts';
import { createEventSweep } from '../../control/deployments/forget-events.ts';
import { EVENTS_KEPT_MS } from '../../domain/deployments/event-schema.ts';
import { readTallies } from '../../store/connection/tallies.ts';
import { noteConnectivity } from '../../store/deployments/context-events.ts';
import { contextBenchOfBlock } from './context-bench.ts';

const bench = contextBenchOfBlock('k');
const never = new AbortController().signal;

test('the oldest events go where there are too many, and none that is young: a reader in time misses none', async () => {
  const run = await bench.instantiated();
  const other = await bench.instantiated();
  await bench.round(run);
  const { db } = bench.deps;
  const cluster = { provider: run.provider, cluster: 'north' };
  for (let turn = 0; turn < 20; turn += 1) await noteConnectivity(db, cluster, turn % 2 === 1, bench.deps.clock());
  const numbers = async ({ id }: { id: string }) => {
    const rows = await db
      .selectFrom('context_events')
      .select('number')
      .where('context', '=', id)
      .orderBy('number')
      .execute();
    return rows.map(({ number }) => Number(number));
  };
  const all = await numbers(run);
  const others = await numbers(other);
  const sweep = createEventSweep({ db, clock: bench.deps.clock, kept: 10 });
  await sweep(never);
  expect(await numbers(run)).toEqual(all);
  bench.later(EVENTS_KEPT_MS / 1000 + 1);
  await noteConnectivity(db, cluster, true, bench.deps.clock());
  await sweep(never);
  expect(await numbers(run)).toEqual([...all, all.length + 1].slice(-10));
  expect(await numbers(other)).toEqual(others);

  // The numbers tell that some are missing, and what comes next goes on behind them.
  const answer = await bench.api.call('GET', `/api/v1/deployments/${nameOf(run)}/events?after=0`);
  expect(answer.body.events.map(({ seq }: { seq: number }) => seq)).toEqual(await numbers(run));
  await noteConnectivity(db, cluster, false, bench.deps.clock());
  expect((await numbers(run)).at(-1)).toBe(all.length + 2);
});

function nameOf({ project }: { project: string }): string {
  return encodeURIComponent(`${project.split('/').at(-1)}+telemetry+v1+edge`);
}

test('calls are counted by what their answers mean; what cannot be written is written the next time', async () => {
  const { db } = bench.deps;
  const counted = async () => {
    const rows = (await readTallies(db)).filter(({ name }) => name === 'cluster_calls');
    return Object.fromEntries(rows.map(({ label, count }) => [label, Number(count)]));
  };
  const before = await counted();
  const counts = createCallCounts();
  for (let call = 0; call < 3; call += 1) counts.count({ is: 'accepted' });
  counts.count({ is: 'ask-version', reason: 'InternalError', message: '' });
  counts.count({ is: 'unreachable', reason: 'Unreachable', message: '', retryAfter: null });
  const { promise: isLost, resolve: lose } = Promise.withResolvers<void>();
  const stop = keepCounts({ db: {} as never, log: { warn: () => lose() }, counts }, 1);
  await isLost;
  await stop();
  expect(await counted()).toEqual(before);
  await keepCounts({ db, log: { warn: () => undefined }, counts }, 60_000)();
  const after = await counted();
  const grown = (word: string) => (after[word] ?? 0) - (before[word] ?? 0);
  expect([grown('accepted'), grown('fault'), grown('unreachable'), grown('refused')]).toEqual([3, 1, 1, 0]);
});
