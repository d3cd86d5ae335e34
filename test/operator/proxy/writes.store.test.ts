/** The list of what a run writes in its cluster, kept in the run's stream. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openWriteRecord } from '../../../control/operator/record-writes.ts';
import { openRun } from '../../../control/runs/open-run.ts';
import { type RunWrite, WRITES_LISTED } from '../../../domain/operator/write-list.ts';
import { readWrites } from '../../../store/operator/writes.ts';
import { readEventsAfter } from '../../../store/runs/event-reads.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const clock = () => new Date('2026-01-02T03:04:05Z');
const log = { warn: () => undefined };
const write = (n: number): RunWrite => ({
  ...{ verb: 'create', group: '', version: 'v1', kind: 'ConfigMap', namespace: 'ns1', name: `c${n}`, subresource: '' },
});

let runs = 0;

async function newRun(): Promise<string> {
  runs += 1;
  const id = `reconcile-${runs}-1`;
  const owner = { kind: 'reconcile', id: String(runs) };
  await openRun(database.db, { id, sessionId: null, owner, streamId: id, layer: 0, attempt: 1, host: 'disk' }, clock());
  return id;
}

test('writes are stored in order while the run goes on, as events of the run', async () => {
  const { db } = database;
  const runId = await newRun();
  const record = openWriteRecord({ db, clock, log });
  for (const n of [1, 2, 3]) record.wrote(runId, write(n));
  await eventually('they are stored', async () => (await readWrites(db, runId)).total === 3);
  record.wrote(runId, { ...write(4), verb: 'delete' });
  await record.end(runId);
  expect(await readWrites(db, runId)).toEqual({
    total: 4,
    listed: [write(1), write(2), write(3), { ...write(4), verb: 'delete' }],
  });
  const [first] = await readEventsAfter(db, runId, { type: 'write' }, 0, 1);
  expect(first).toMatchObject({ run_id: runId, time: clock(), data: write(1) });
  await record.close();
});

test('at most 1,000 are listed, over restarts; all are counted', async () => {
  const { db } = database;
  const runId = await newRun();
  const before = openWriteRecord({ db, clock, log });
  for (let n = 0; n < WRITES_LISTED - 10; n += 1) before.wrote(runId, write(n));
  await before.close();
  const after = openWriteRecord({ db, clock, log });
  for (let n = 0; n < 1_500; n += 1) after.wrote(runId, write(n));
  await after.end(runId);
  const { total, listed } = await readWrites(db, runId);
  expect(total).toBe(WRITES_LISTED - 10 + 1_500);
  expect(listed).toHaveLength(WRITES_LISTED);
  expect(listed.slice(-10)).toEqual(Array.from({ length: 10 }, (_, n) => write(n)));
});

test('nothing is lost while the database is away', async () => {
  const runId = await newRun();
  let isAway = true;
  const db = new Proxy(database.db, {
    get(of, name, receiver) {
      if (isAway) throw new Error('the database is away');
      const value: unknown = Reflect.get(of, name, receiver);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  const warnings: string[] = [];
  const record = openWriteRecord({ db, clock, log: { warn: (_, message) => void warnings.push(message) } });
  record.wrote(runId, write(1));
  await eventually('it was tried', async () => warnings.length > 0);
  await expect(record.end(runId)).rejects.toThrow('away');
  record.wrote(runId, write(2));
  isAway = false;
  await record.end(runId);
  expect(await readWrites(database.db, runId)).toEqual({ total: 2, listed: [write(1), write(2)] });
  await record.close();
});

test('a run without writes has none', async () => {
  const { db } = database;
  const runId = await newRun();
  const record = openWriteRecord({ db, clock, log });
  await record.end(runId);
  expect(await readWrites(db, runId)).toEqual({ total: 0, listed: [] });
  await record.close();
});
