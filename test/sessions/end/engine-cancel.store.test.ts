/** What the engine is told of a session's end, and what the record is told of a cancel in the engine. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cancelSession } from '../../../control/sessions/cancel-session.ts';
import { endSession } from '../../../control/sessions/end-session.ts';
import { noteCancelInEngine } from '../../../control/sessions/note-engine-cancel.ts';
import { patchSession } from '../../../control/sessions/patch-session.ts';
import { ensureRun } from '../../../store/runs/runs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow, signalClient } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const commands = () => ({
  db: database.db,
  dispatcher: { kick: () => undefined },
  clock: () => new Date(),
});
const ending = () => ({ db: database.db, client: signalClient().client, clock: () => new Date() });
const END = { succeeded: 'false', message: 'layer 0 failed', reason: 'layer_failed' } as const;
const NONE = { applied: 0, failed: 0, incomplete: 0, not_reached: 0 };

const cancelsOf = (name: string) =>
  database.db
    .selectFrom('audit')
    .select(['actor', 'after'])
    .where('kind', '=', 'session')
    .where('name', '=', name)
    .where('action', '=', 'cancel')
    .execute();

test('a cancel in the engine is in record and audit, once', async () => {
  const { id, name } = await makeSession(database.db);
  await noteCancelInEngine(database.db, id, new Date());
  await noteCancelInEngine(database.db, id, new Date());
  expect(await sessionNow(database.db, id)).toMatchObject({
    cancel_reason: 'cancelled in Temporal',
    cancel_actor: 'temporal',
    updated_by: 'temporal',
  });
  expect(await cancelsOf(name)).toEqual([
    { actor: 'temporal', after: expect.objectContaining({ cancel_reason: 'cancelled in Temporal' }) },
  ]);
});

test('the end of a session that was cancelled in the engine says so in record and audit, of one that the command cancelled as before', async () => {
  const [engine, command] = [await makeSession(database.db), await makeSession(database.db)];
  await cancelSession(commands(), { actor: 'ann' }, command.name, 'wrong night');
  for (const { id } of [engine, command])
    for (let time = 0; time < 2; time += 1)
      await endSession(ending(), id, { succeeded: 'false', message: 'cancelled', reason: 'cancelled' });
  expect(await sessionNow(database.db, engine.id)).toMatchObject({
    stage: 'ended',
    message: 'cancelled',
    cancel_reason: 'cancelled in Temporal',
  });
  expect((await cancelsOf(engine.name)).map(({ actor }) => actor)).toEqual(['temporal']);
  expect((await cancelsOf(command.name)).map(({ actor }) => actor)).toEqual(['ann']);
});

test('it takes nothing from a cancel before it, nor from an end', async () => {
  const [cancelled, ended] = [await makeSession(database.db), await makeSession(database.db)];
  await cancelSession(commands(), { actor: 'ann' }, cancelled.name, 'wrong night');
  await endSession(ending(), ended.id, END);
  for (const { id } of [cancelled, ended]) await noteCancelInEngine(database.db, id, new Date());
  expect((await cancelsOf(cancelled.name)).map(({ actor }) => actor)).toEqual(['ann']);
  expect(await cancelsOf(ended.name)).toEqual([]);
  await noteCancelInEngine(database.db, randomUUID(), new Date());
});

test('the end is answered as the record has it, also when it is written again', async () => {
  const { id } = await makeSession(database.db);
  expect(await endSession(ending(), id, END)).toEqual({ ...END, hosts: NONE });
  expect(await endSession(ending(), id, { ...END, message: 'another' })).toEqual({ ...END, hosts: NONE });
});

test('hosts are counted, each once', async () => {
  const { id } = await makeSession(database.db);
  const run = { id: `${id}-1-0`, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'h' };
  await ensureRun(database.db, run, new Date());
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const of = { run_id: run.id, session_id: id, layer: 0, attempt: 1, recorded: false, changes: null };
  for (const [host, status] of [
    ['n1', 'applied'],
    ['n2', 'failed'],
    ['n3', 'failed'],
  ] as const) {
    await database.db
      .insertInto('host_results')
      .values({ ...of, host, status, ...counts })
      .execute();
  }
  expect((await endSession(ending(), id, END))?.hosts).toMatchObject({ applied: 1, failed: 2 });
});

test('somebody completed the session: their end is answered', async () => {
  const { id, name } = await makeSession(database.db);
  await patchSession(commands(), { actor: 'ann' }, name, {
    status: { session: { status: 'complete', succeeded: 'true' } },
  });
  expect(await endSession(ending(), id, END)).toMatchObject({ succeeded: 'true' });
});

test('a session that is gone has no end', async () => {
  expect(await endSession(ending(), randomUUID(), END)).toBeNull();
});
