import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { noteMachineAway } from '../../../control/sessions/note-machine.ts';
import { patchSession } from '../../../control/sessions/patch-session.ts';
import { purgeSession } from '../../../control/sessions/purge-session.ts';
import { noteProgress, noteWarnings } from '../../../control/sessions/session-progress.ts';
import { ensureRun, markRunEnded } from '../../../store/runs/runs.ts';
import { admit, queueHead } from '../../../store/sessions/admission.ts';
import { noteHostBack, writeProgress } from '../../../store/sessions/progress.ts';
import { findJobInventory, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { endedSessions, openSessions, unpurgedSessions } from '../../../store/sessions/sweep.ts';
import { writeEnd } from '../../../store/sessions/write-end.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const deps = () => ({ db: database.db, dispatcher: { kick: () => undefined }, clock: () => new Date() });
const END = { succeeded: 'false', message: 'layer 0 failed', reason: 'layer_failed' } as const;

describe('the end of a session', () => {
  test('is written once, by the first', async () => {
    const { id } = await makeSession(database.db);
    const ends = ['true', 'false', 'unknown'] as const;
    const written = await Promise.all(
      ends.map((succeeded) => writeEnd(database.db, id, { succeeded, message: succeeded, reason: null }, new Date())),
    );
    expect(written.filter((one) => one)).toHaveLength(1);
    const row = await sessionNow(database.db, id);
    const winner = ends[written.indexOf(true)];
    expect(row).toMatchObject({
      stage: 'ended',
      status: 'complete',
      phase: 'done',
      succeeded: winner,
      message: winner,
    });
    expect(row.completion_time).not.toBeNull();
    expect(await writeEnd(database.db, id, END, new Date())).toBe(false);
    expect(await sessionNow(database.db, id)).toEqual(row);
  });

  test('keeps what somebody wrote from outside, and still gives the slot back', async () => {
    const { id, name } = await makeSession(database.db);
    const next = await makeSession(database.db);
    await admit(database.db, id, { job: 'cfs-job', maxRunning: 1, now: new Date() });
    await patchSession(deps(), { actor: 'ann' }, name, {
      status: { session: { status: 'complete', succeeded: 'true' } },
    });
    const patched = await sessionNow(database.db, id);
    expect(patched).toMatchObject({
      status: 'complete',
      succeeded: 'true',
      stage: 'admitted',
      cancel_reason: 'completed from outside',
    });
    expect((await admit(database.db, next.id, { job: 'cfs-next', maxRunning: 1, now: new Date() })).state).toBe(
      'waiting',
    );

    expect(await writeEnd(database.db, id, END, new Date())).toBe(true);
    const { status, succeeded, message, completion_time, reason } = await sessionNow(database.db, id);
    expect({ status, succeeded, message, completion_time, reason }).toEqual({
      status: patched.status,
      succeeded: patched.succeeded,
      message: patched.message,
      completion_time: patched.completion_time,
      reason: patched.reason,
    });
    expect((await admit(database.db, next.id, { job: 'cfs-next', maxRunning: 1, now: new Date() })).state).toBe(
      'admitted',
    );
    await writeEnd(database.db, next.id, END, new Date());
  });

  test('is the last word: no progress is written after it', async () => {
    const { id } = await makeSession(database.db);
    await writeProgress(
      database.db,
      id,
      {
        phase: 'layer',
        layer: 2,
        attempt: 3,
        message: 'running',
        reason: 'clone_failed',
      },
      new Date(),
    );
    const running = await sessionNow(database.db, id);
    expect(running).toMatchObject({ phase: 'layer', layer: 2, attempt: 3, message: 'running', reason: 'clone_failed' });
    await writeProgress(database.db, id, { phase: 'hold', message: 'holding', reason: null }, new Date());
    expect(await sessionNow(database.db, id)).toMatchObject({ phase: 'hold', layer: 2, attempt: 3, reason: null });
    await writeEnd(database.db, id, END, new Date());
    await writeProgress(database.db, id, { phase: 'layer', message: 'running again', reason: null }, new Date());
    expect(await sessionNow(database.db, id)).toMatchObject({ phase: 'done', message: END.message });
  });

  test('is looked for among sessions that have settled, deleted ones too', async () => {
    const { db } = database;
    const old = await makeSession(db, { now: new Date(Date.now() - 60_000) });
    const gone = await makeSession(db, { now: new Date(Date.now() - 60_000) });
    const young = await makeSession(db);
    await deleteSession(deps(), { actor: 'ann' }, gone.name);
    const open = (await openSessions(db, new Date(Date.now() - 20_000))).map(({ id }) => id);
    expect(open).toEqual(expect.arrayContaining([old.id, gone.id]));
    expect(open).not.toContain(young.id);
    await writeEnd(db, old.id, END, new Date());
    expect((await openSessions(db, new Date())).map(({ id }) => id)).not.toContain(old.id);
  });
});

test('messages and warnings with text that no database takes are stored', async () => {
  const { db } = database;
  const { id } = await makeSession(db);
  await noteProgress({ db, clock: () => new Date() }, id, { step: 'room', message: 'a\u0000\ud83d', reason: null });
  expect((await sessionNow(db, id)).message).toBe('a\ufffd\ufffd');
  await noteWarnings({ db, clock: () => new Date() }, id, ['b\u0000', 'c\udc00']);
  const events = await db.selectFrom('events').selectAll().where('stream_id', '=', id).orderBy('seq').execute();
  expect(events.map(({ data }) => data)).toEqual([{ message: 'b\ufffd' }, { message: 'c\ufffd' }]);
});

describe('what a deleted session leaves', () => {
  test('is up for removal once its work has ended, until that is done', async () => {
    const { db } = database;
    const { id, name } = await makeSession(db);
    const given = { profile: 'restricted', inventory: { files: { 'hosts/all': 'secret' } }, leases: false } as const;
    await saveSessionJob(db, { sessionId: id, name: `cfs-${id}`, ...given }, new Date());
    const isUp = async () => (await unpurgedSessions(db, 1000)).some((session) => session.id === id);
    expect(await isUp()).toBe(false);
    await deleteSession(deps(), { actor: 'ann' }, name);
    expect(await isUp()).toBe(false);
    await writeEnd(db, id, END, new Date());
    expect(await isUp()).toBe(true);
    await purgeSession(db, id, new Date());
    expect(await isUp()).toBe(false);
    expect(await findJobInventory(db, id)).toEqual({ files: {} });
  });

  test('is not touched while another of its name is worked on', async () => {
    const { db } = database;
    const first = await makeSession(db);
    await deleteSession(deps(), { actor: 'ann' }, first.name);
    const second = await makeSession(db, { name: first.name });
    await writeEnd(db, first.id, END, new Date());
    expect(await sessionNow(db, second.id)).toMatchObject({ stage: 'queued', status: 'pending' });
    expect(await endedSessions(db, [first.id, second.id])).toEqual([first.id]);
  });
});

test('sessions without open work: ended ones and unknown ones, never what is no id', async () => {
  const { db } = database;
  const open = await makeSession(db);
  const ended = await makeSession(db);
  await writeEnd(db, ended.id, END, new Date());
  const unknown = randomUUID();
  const names = [open.id, ended.id, unknown, '..', 'lost+found', `${ended.id}x`, ended.id.toUpperCase(), ''];
  expect((await endedSessions(db, names)).sort()).toEqual([ended.id, unknown].sort());
  expect(await endedSessions(db, [])).toEqual([]);
  expect(await queueHead(db)).not.toBeNull();
});

describe('a machine that is away', () => {
  const open = async (host: string, given: Record<string, unknown> = {}) => {
    const { id } = await makeSession(database.db);
    const values = { stage: 'admitted', status: 'running', phase: 'layer', layer: 3, message: 'running layer 4' };
    await database.db
      .updateTable('sessions')
      .set({ ...values, ...given } as object)
      .where('id', '=', id)
      .execute();
    await ensureRun(
      database.db,
      { id: `${id}-1-3`, sessionId: id, streamId: id, layer: 3, attempt: 1, host },
      new Date(),
    );
    return id;
  };
  const said = async (id: string) => {
    const { message, reason } = await sessionNow(database.db, id);
    return { message, reason };
  };

  test('is named in the sessions that have an open run there, and no more when it is back', async () => {
    const [here, there, done, over] = [
      await open('disk-a'),
      await open('disk-b'),
      await open('disk-a'),
      await open('disk-a', { stage: 'ended', status: 'complete', message: 'done' }),
    ];
    await markRunEnded(database.db, `${done}-1-3`, 'ended', 0, new Date());
    await noteMachineAway(database.db, 'disk-a');
    await noteMachineAway(database.db, 'disk-a');
    const waits = { message: expect.stringContaining('waiting for the machine'), reason: 'runner_gone' };
    expect(await said(here)).toEqual(waits);
    for (const id of [there, done]) expect(await said(id)).toEqual({ message: 'running layer 4', reason: null });
    expect(await said(over)).toEqual({ message: 'done', reason: null });
    await noteHostBack(database.db, 'disk-b');
    expect(await said(here)).toEqual(waits);
    await noteHostBack(database.db, 'disk-a');
    expect(await said(here)).toEqual({ message: 'running layer 4', reason: null });
  });
});
