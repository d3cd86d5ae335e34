import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type AdmitDependencies, admitSession } from '../../../control/sessions/admit-session.ts';
import { endSession } from '../../../control/sessions/end-session.ts';
import { createSessionEngine } from '../../../control/sessions/session-engine.ts';
import { withSlotWaits } from '../../../control/sessions/slot-waits.ts';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { lockOptions, mergeOptions } from '../../../store/configurations/options.ts';
import { admit, countAdmitted, queueHead } from '../../../store/sessions/admission.ts';
import { requestCancel, type SessionRow } from '../../../store/sessions/sessions.ts';
import { writeEnd } from '../../../store/sessions/write-end.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow, signalClient } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
/** Each test has the queue for itself. */
afterEach(async () => {
  await database.db.deleteFrom('sessions').execute();
});

const END = { succeeded: 'true', message: 'done', reason: null } as const;
const IMAGES = { definition: 'image' as const, groups: [{ name: 'g', members: ['i'] }], image_map: null };
const job = 'cfs-job';

async function queue(count: number): Promise<SessionRow[]> {
  const made: SessionRow[] = [];
  for (let index = 0; index < count; index += 1) made.push(await makeSession(database.db));
  return made;
}

const ask = async (session: SessionRow | undefined, limit: number) =>
  (await admit(database.db, session?.id ?? '', { job: job, maxRunning: limit, now: new Date() })).state;

describe('a slot', () => {
  test('is taken together with running, the job and the time', async () => {
    const [session] = await queue(1);
    expect(await admit(database.db, session?.id ?? '', { job: job, maxRunning: 2, now: new Date() })).toEqual({
      state: 'admitted',
      free: 1,
      taken: 1,
    });
    expect(await sessionNow(database.db, session?.id ?? '')).toMatchObject({
      stage: 'admitted',
      status: 'running',
      job,
      phase: 'clone',
      message: 'cloning',
      admitted_at: expect.any(Date),
    });
  });

  test('is given first come, first served', async () => {
    const { db } = database;
    const [first, second, third] = await queue(3);
    expect(await ask(second, 3)).toBe('waiting');
    expect(await ask(third, 3)).toBe('waiting');
    expect(await ask(first, 3)).toBe('admitted');
    expect(await ask(third, 3)).toBe('waiting');
    expect((await queueHead(db))?.id).toBe(second?.id);
    expect(await ask(second, 3)).toBe('admitted');
    expect(await ask(third, 2)).toBe('waiting');
    await writeEnd(db, first?.id ?? '', END, new Date());
    expect(await ask(third, 2)).toBe('admitted');
    expect(await countAdmitted(db)).toBe(2);
  });

  test('is not given at a limit of 0, and is when the limit is raised', async () => {
    const [session] = await queue(1);
    expect(await ask(session, 0)).toBe('waiting');
    expect(await ask(session, 1)).toBe('admitted');
  });

  test('stays taken when the limit is lowered below what runs', async () => {
    const [first, second, third] = await queue(3);
    await ask(first, 2);
    await ask(second, 2);
    expect(await admit(database.db, third?.id ?? '', { job: job, maxRunning: 1, now: new Date() })).toEqual({
      state: 'waiting',
      free: 0,
      taken: 2,
    });
    expect(await ask(first, 1)).toBe('admitted');
  });

  test('is taken once, with the first job, however often it is asked for', async () => {
    const [session] = await queue(1);
    const id = session?.id ?? '';
    const answers = await Promise.all(
      ['cfs-a', 'cfs-b', 'cfs-c'].map((name) => admit(database.db, id, { job: name, maxRunning: 1, now: new Date() })),
    );
    expect(answers.map(({ state }) => state)).toEqual(['admitted', 'admitted', 'admitted']);
    const taken = await sessionNow(database.db, id);
    await admit(database.db, id, { job: 'cfs-late', maxRunning: 1, now: new Date() });
    expect(await sessionNow(database.db, id)).toEqual(taken);
    expect(await countAdmitted(database.db)).toBe(1);
  });

  test('keeps a job that somebody else wrote', async () => {
    const [session] = await queue(1);
    await database.db.updateTable('sessions').set({ job: 'theirs' }).execute();
    await ask(session, 1);
    expect(await sessionNow(database.db, session?.id ?? '')).toMatchObject({ job: 'theirs' });
  });

  test('is for nobody who is not on record', async () => {
    expect(
      (await admit(database.db, '00000000-0000-4000-8000-000000000000', { job: job, maxRunning: 5, now: new Date() }))
        .state,
    ).toBe('withdrawn');
  });

  test.each([
    ['cancelled', { cancel_requested_at: new Date(), cancel_reason: 'no more' }],
    ['deleted', { deleted_at: new Date() }],
    ['completed from outside', { status: 'complete' as const }],
    ['ended', { stage: 'ended' as const }],
  ])('is for nobody who is %s; the next in line takes it', async (_title, change) => {
    const [first, second] = await queue(2);
    await database.db
      .updateTable('sessions')
      .set(change)
      .where('id', '=', first?.id ?? '')
      .execute();
    expect((await queueHead(database.db))?.id).toBe(second?.id);
    expect(await ask(first, 1)).toBe('withdrawn');
    expect(await ask(second, 1)).toBe('admitted');
  });

  test('50 that ask at once never exceed the limit, and all come in, in order', async () => {
    const { db } = database;
    const limit = 4;
    const sessions = await queue(50);
    const counts: number[] = [];
    const look = async () => void counts.push(await countAdmitted(db));
    await Promise.all(
      sessions.flatMap((session, index) => (index % 10 === 0 ? [ask(session, limit), look()] : ask(session, limit))),
    );
    // As the engine does from now on: who ends wakes the next in line, and words may come twice.
    for (let head = await queueHead(db); head !== null; head = await queueHead(db)) {
      const inside = await db.selectFrom('sessions').select('id').where('stage', '=', 'admitted').limit(2).execute();
      const next = sessions.find(({ id }) => id === head?.id);
      await Promise.all([
        ...inside.map(({ id }) => writeEnd(db, id, END, new Date())),
        ask(next, limit),
        ask(next, limit),
        look(),
      ]);
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(limit);
    const rows = await db
      .selectFrom('sessions')
      .select(['queue', 'stage'])
      .orderBy('admitted_at')
      .orderBy('queue')
      .execute();
    expect(rows.map((row) => row.queue)).toEqual(sessions.map((session) => session.queue));
    expect(rows.map((row) => row.stage)).not.toContain('queued');
  });

  test('is never given to a session whose cancellation was accepted before', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [session] = await queue(1);
      const id = session?.id ?? '';
      const cancel = { actor: null, reason: 'no more', message: 'is being cancelled', now: new Date() };
      const [state, cancelled] = await Promise.all([ask(session, 100), requestCancel(database.db, id, cancel)]);
      expect(cancelled).toBe(true);
      const { stage, admitted_at, cancel_requested_at } = await sessionNow(database.db, id);
      expect(stage).toBe(state === 'admitted' ? 'admitted' : 'queued');
      expect(cancel_requested_at).not.toBeNull();
      expect(admitted_at === null).toBe(state === 'withdrawn');
    }
  });
});

describe('the way in', () => {
  const dependencies = (limit: number, freeDisk = 2 ** 40) => {
    const { client, signalled } = signalClient();
    const deps: AdmitDependencies = {
      db: database.db,
      clock: () => new Date(),
      client,
      readOptions: async () => ({ ...DEFAULT_OPTIONS, max_running_sessions: limit }),
      freeDisk: async () => freeDisk,
      minFreeDisk: 2 ** 30,
    };
    return { deps, signalled };
  };

  test.each([
    ['a Job', { muster: { runner: 'kubernetes' as const } }, undefined, /^waiting for a worker with a cluster to /],
    ['a Job by default', {}, 'kubernetes' as const, /^waiting for a worker with a cluster to /],
    ['a Job on images', { target: IMAGES }, 'kubernetes' as const, /^preparing the images$/],
    ['a run here', { muster: { runner: 'local' as const } }, 'kubernetes' as const, /^cloning$/],
  ])('says what comes first for %s', async (_title, given, defaultRunner, message) => {
    const { id } = await makeSession(database.db, given);
    const deps = { ...dependencies(1).deps, ...(defaultRunner === undefined ? {} : { defaultRunner }) };
    expect(await admitSession(deps, id)).toMatchObject({ state: 'admitted' });
    expect(await sessionNow(database.db, id)).toMatchObject({ message: expect.stringMatching(message), reason: null });
  });

  test.each([
    [1, 'waits for a slot: 1 of 1 taken (option max_running_sessions)'],
    [0, 'waiting: max_running_sessions is 0, so no session is started'],
    [9, 'waiting for its turn: sessions that were made before it come first'],
  ])('says why at a limit of %i', async (limit, message) => {
    const [first, second, third] = await queue(3);
    if (limit === 1) await ask(first, 1);
    expect(await admitSession(dependencies(limit).deps, third?.id ?? '')).toMatchObject({ state: 'waiting', message });
    expect(await sessionNow(database.db, third?.id ?? '')).toMatchObject({
      message,
      phase: 'queued',
      status: 'pending',
    });
    expect(second).toBeDefined();
  });

  test('says nothing of a limit that is another one now', async () => {
    const [first, , third] = await queue(3);
    const { deps } = dependencies(0);
    for (const session of [first, third]) await admitSession(deps, session?.id ?? '');
    await createSessionEngine(deps).pokeQueue();
    for (const session of [first, third]) {
      expect(await sessionNow(database.db, session?.id ?? '')).toMatchObject({ message: 'waiting for a session slot' });
    }
  });

  test('wakes the next in line while slots are free', async () => {
    const [first, second] = await queue(2);
    const { deps, signalled } = dependencies(2);
    expect(await admitSession(deps, first?.id ?? '')).toMatchObject({ state: 'admitted' });
    expect(signalled).toEqual([second && sessionWorkflowId(second)]);
    await admitSession(deps, second?.id ?? '');
    expect(signalled).toHaveLength(1);
  });

  test('wakes it also when the one who was let in had died before saying so', async () => {
    const [first, second] = await queue(2);
    await ask(first, 2);
    const { deps, signalled } = dependencies(2);
    expect(await admitSession(deps, first?.id ?? '')).toMatchObject({ state: 'admitted' });
    expect(signalled).toEqual([second && sessionWorkflowId(second)]);
  });

  test('is closed while the disk is nearly full, and says so', async () => {
    const [session] = await queue(1);
    const id = session?.id ?? '';
    const answer = await admitSession(dependencies(1, 5 * 2 ** 20).deps, id);
    expect(answer).toEqual({
      state: 'waiting',
      message: 'waiting for disk space: 5 MiB free, 1024 MiB needed (MUSTER_MIN_FREE)',
      retrySeconds: 15,
    });
    expect(await sessionNow(database.db, id)).toMatchObject({ reason: 'disk_low', stage: 'queued' });
    expect(await admitSession(dependencies(1).deps, id)).toMatchObject({ state: 'admitted' });
    expect(await sessionNow(database.db, id)).toMatchObject({ reason: null });
  });

  test.each([
    ['cancelled', { cancel_requested_at: new Date(), cancel_reason: 'cancelled: no more' }, 'cancelled: no more'],
    ['deleted', { deleted_at: new Date() }, 'the session was deleted'],
    ['completed from outside', { status: 'complete' as const, message: 'theirs' }, 'theirs'],
  ])('is closed for one that is %s, in line or let in before', async (_title, change, reason) => {
    const [waiting, inside] = await queue(2);
    await database.db
      .updateTable('sessions')
      .set({ stage: 'admitted' })
      .where('id', '=', inside?.id ?? '')
      .execute();
    await database.db.updateTable('sessions').set(change).execute();
    for (const session of [waiting, inside]) {
      expect(await admitSession(dependencies(5).deps, session?.id ?? '')).toEqual({ state: 'cancelled', reason });
    }
  });

  test('is no way for one that has ended or is not on record', async () => {
    const [session] = await queue(1);
    await writeEnd(database.db, session?.id ?? '', END, new Date());
    const { deps } = dependencies(5);
    const hosts = { applied: 0, failed: 0, incomplete: 0, not_reached: 0 };
    expect(await admitSession(deps, session?.id ?? '')).toEqual({ state: 'over', end: { ...END, hosts } });
    expect(await admitSession(deps, '00000000-0000-4000-8000-000000000000')).toEqual({ state: 'over' });
  });

  test('is opened by the end of another', async () => {
    const [first, second] = await queue(2);
    const { deps, signalled } = dependencies(1);
    await admitSession(deps, first?.id ?? '');
    await endSession(deps, first?.id ?? '', { ...END, message: 'a\u0000b' });
    expect(signalled).toEqual([second && sessionWorkflowId(second)]);
    expect(await sessionNow(database.db, first?.id ?? '')).toMatchObject({ message: 'a\ufffdb', stage: 'ended' });
    expect(await admitSession(deps, second?.id ?? '')).toMatchObject({ state: 'admitted' });
  });
});

describe('what is shown of those that wait', () => {
  const shown = async (rows: SessionRow[]) => {
    const now = await Promise.all(rows.map((row) => sessionNow(database.db, row.id)));
    const then = new Date((now[0]?.admitted_at ?? new Date()).getTime() + 7_000);
    return (await withSlotWaits(database.db, now as SessionRow[], then)).map(({ message }) => message);
  };
  const limitTo = (value: number) =>
    database.db.transaction().execute(async (trx) => {
      await lockOptions(trx);
      await mergeOptions(trx, { max_running_sessions: value }, new Date(), null);
    });
  afterEach(() => limitTo(50));

  test('who has the slots at this moment, and nothing else is changed', async () => {
    const rows = await queue(3);
    await ask(rows[0], 1);
    await limitTo(1);
    const sentence = `waits for a slot: 1 of 1 taken, by \`${rows[0]?.name}\` for 7 s (option max_running_sessions)`;
    expect(await shown(rows)).toEqual(['cloning', sentence, sentence]);
    await writeEnd(database.db, rows[0]?.id ?? '', END, new Date());
    expect((await shown(rows)).slice(1)).not.toContain(sentence);
  });

  test('nothing of slots where some are free, or there are to be none', async () => {
    const rows = await queue(2);
    await ask(rows[0], 1);
    expect(await shown(rows)).toEqual(['cloning', 'waiting for a session slot']);
    await limitTo(0);
    expect(await shown(rows)).toEqual(['cloning', 'waiting for a session slot']);
  });
});
