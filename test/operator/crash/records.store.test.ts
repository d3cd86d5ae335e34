/** What crashes leave on record: who goes on with it, who gives it up, and what two that act at once agree on. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { noteObjects } from '../../../control/operator/note-objects.ts';
import { registerOperator } from '../../../control/operator/register-operator.ts';
import { cancelReconciles, pauseOperators, resumeOperators } from '../../../control/operator/stop-operators.ts';
import { BY_DELETION, runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { forgetTold, freePlaces, holdOperator, listUntold, noteTold } from '../../../store/operator/due.ts';
import { forgetLeftProcesses, forgetProcess, noteProcess } from '../../../store/operator/operators.ts';
import { findResource } from '../../../store/operator/reads.ts';
import { writeBegin } from '../../../store/operator/reconciles.ts';
import { listAbandoned } from '../../../store/operator/requests.ts';
import type { TestDatabase } from '../../support/postgres/test-database.ts';
import { addWidget, begin, end, MACHINE, OPERATOR, recordOf, WIDGET } from '../hands/fixtures.ts';
import { later, NOW, resourceRow, withOperatorRows } from '../hands/operator-rows.ts';
import { load } from '../watches/entries.ts';

let database: TestDatabase;
let db: Db;
withOperatorRows((opened) => {
  database = opened;
  db = opened.db;
});

const rowOf = (id: string) => resourceRow(db, id);
const reconcileOf = (id: string) =>
  db.selectFrom('operator_reconciles').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const quiet = {
  ...{ operator: OPERATOR, tell: async () => undefined },
  notices: { tell: () => undefined, close: async () => undefined },
};

describe('a run that is lost', () => {
  test('is counted, though none of its resource ever came to an end', async () => {
    const id = await addWidget(db, 'a', NOW);
    for (const times of [1, 2, 3]) {
      const record = await begin(db, id, later(times));
      expect(record.lastGeneration).toBe(times === 1 ? null : 1);
      await end(db, record, 'interrupted', later(times));
      expect(await rowOf(id)).toMatchObject({ interruptions: times, done_generation: null, due_at: later(times) });
    }
  });
});

describe('a resource that is deleted while its reconcile decides', () => {
  const [entry] = load(
    '[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml, muster: {on_delete: cancel}}]',
  ).entries;
  const deleted = (name: string) => {
    if (entry === undefined) throw new Error('no entry');
    const object = { namespace: 'ns', name, uid: `uid-${OPERATOR}-${name}`, generation: 2, mark: '', deleting: true };
    const notes = { objects: [object], gone: [], isComplete: false, isFirst: false };
    return noteObjects({ ...quiet, db, clock: () => NOW }, { entry, hash: 'h1' }, notes);
  };
  const open = async (name: string) => {
    const id = await addWidget(db, name, NOW);
    const record = await begin(db, id, NOW);
    await db.updateTable('operator_reconciles').set({ begin: null }).where('id', '=', record.id).execute();
    const undecided = await recordOf(db, record.id);
    if (record.begin === null) throw new Error('nothing was begun');
    const does = record.begin;
    const read = { dirty: 1, generation: 1, entryHash: 'h1', runId: runIdOfReconcile(record.id) };
    return {
      decide: (deletionCancels = true, more: object = {}) =>
        writeBegin(db, undecided, { ...does, ...more }, { ...read, deletionCancels }, NOW),
      cancelledBy: async () => (await recordOf(db, record.id)).cancelledBy,
    };
  };

  test.each([
    ['the note comes first', (decide: () => Promise<unknown>) => deleted('b').then(decide)],
    ['the decision comes first', (decide: () => Promise<unknown>) => decide().then(() => deleted('b'))],
  ])('has its run cancelled where %s', async (_, inOrder) => {
    const { decide, cancelledBy } = await open('b');
    await inOrder(() => decide());
    expect(await cancelledBy()).toBe(BY_DELETION);
  });

  test('has its run cancelled where both are at work at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = `c${round}`;
      const { decide, cancelledBy } = await open(name);
      await Promise.all(round % 2 === 0 ? [deleted(name), decide()] : [decide(), deleted(name)]);
      expect(await cancelledBy()).toBe(BY_DELETION);
    }
  });

  test('keeps the run of a finalizer, and any where its entry lets runs finish', async () => {
    const own = await open('d');
    await deleted('d');
    await own.decide(true, { finalizerRun: true });
    expect(await own.cancelledBy()).toBeNull();
    const finishing = await open('e');
    await db.updateTable('operator_resources').set({ deleting: true }).where('name', '=', 'e').execute();
    await finishing.decide(false);
    expect(await finishing.cancelledBy()).toBeNull();
  });
});

describe('a process', () => {
  const sign = (machine: string, now: Date, outlived: boolean) =>
    noteProcess(
      db,
      { operator: OPERATOR, machine, queue: 'q', slots: 2, version: '1', outlived, engineReason: null },
      now,
    );
  const abandoned = async (seenAfter: Date) => (await listAbandoned(db, OPERATOR, seenAfter)).map(({ id }) => id);

  test('of a pod that is not seen any more gives its reconciles up; one of a machine keeps them', async () => {
    const record = await begin(db, await addWidget(db, 'f', NOW), NOW);
    expect(await abandoned(later(60))).toEqual([]);
    await sign(MACHINE, NOW, false);
    expect(await abandoned(later(-1))).toEqual([]);
    expect(await abandoned(later(60))).toEqual([record.id]);
    await sign(MACHINE, later(61), false);
    expect(await abandoned(later(60))).toEqual([]);
  });

  test('of a pod that ended in order gives them up at once and gets no more; it is forgotten when they are over', async () => {
    const record = await begin(db, await addWidget(db, 'g', NOW), NOW);
    await sign(MACHINE, NOW, false);
    await forgetProcess(db, { operator: OPERATOR, machine: MACHINE, outlived: false });
    expect(await abandoned(later(-60))).toEqual([record.id]);
    expect([...(await freePlaces(db, OPERATOR, later(-60))).machines.keys()]).toEqual([]);
    await forgetLeftProcesses(db, OPERATOR, later(3_600));
    expect(await abandoned(later(-60))).toEqual([record.id]);
    await end(db, record, 'interrupted', NOW);
    await forgetLeftProcesses(db, OPERATOR, later(3_600));
    expect(await db.selectFrom('operator_processes').selectAll().execute()).toEqual([]);
  });

  test('that is away is named by the resource that waits for it', async () => {
    const id = await addWidget(db, 'h', NOW);
    await begin(db, id, NOW);
    expect((await findResource(db, id, later(10)))?.reason).toBeNull();
    expect((await findResource(db, id, later(60)))?.reason).toContain(`waits for host ${MACHINE}`);
  });

  test('that watches nothing of what a live one of its name watches is refused; it changes nothing', async () => {
    const other = { group: 'demo.io', version: 'v1', kind: 'Gadget', entryHash: 'h', slots: 1, finalizer: null };
    // By the database's clock: that of the host that registers may be wrong.
    const seen = (secondsAgo: number) =>
      sql`update operator_processes set seen_at = clock_timestamp() - make_interval(secs => ${secondsAgo})`.execute(db);
    const register = (machine: string, watches: object[]) =>
      registerOperator(
        { db, clock: () => NOW, machine },
        { name: OPERATOR, home: '/elsewhere', version: '2' },
        watches as (typeof other)[],
      );
    await seen(1);
    expect(await register('disk-2', [other])).toContain(MACHINE);
    const row = () => db.selectFrom('operators').selectAll().executeTakeFirstOrThrow();
    expect(await row()).toMatchObject({ home: '/opt/demo' });
    const kinds = async () =>
      (await db.selectFrom('operator_watches').select('kind').execute()).map(({ kind }) => kind);
    expect(await kinds()).toEqual(['Widget']);
    // Its own entries may all be new ones, and so may those of an operator whose processes are gone.
    expect(await register(MACHINE, [other])).toBeNull();
    await seen(60);
    expect(await register('disk-2', [{ ...other, ...WIDGET }])).toBeNull();
    expect(await kinds()).toEqual(['Widget']);
  });

  test('whose login does not own the name is refused with words, and an administrator may give it the name before', async () => {
    const suffix = randomBytes(4).toString('hex');
    await sql`create role muster_operator nologin`.execute(db).catch(() => undefined);
    await sql`select muster_grant_operators()`.execute(db);
    const login = `op_crash_${suffix}`;
    await sql.raw(`create role ${login} login password 'p' in role muster_operator`).execute(db);
    const address = new URL(database.url);
    address.username = login;
    address.password = 'p';
    const own = openDatabase({ url: address.href, name: login });
    try {
      const register = (name: string) =>
        registerOperator({ db: own, clock: () => NOW, machine: 'm' }, { name, home: '/h', version: '1' }, []);
      expect(await register(OPERATOR)).toMatch(/^error: operator_taken: .*another login/);
      await sql`insert into operators (name, home, version, db_role, registered_at) values ('given', '', '', ${login}, now())`.execute(
        db,
      );
      expect(await register('given')).toBeNull();
      expect((await own.selectFrom('operators').select('name').execute()).map(({ name }) => name)).toEqual(['given']);
    } finally {
      await own.destroy();
      await db.deleteFrom('operators').where('name', '=', 'given').execute();
      await sql.raw(`drop owned by ${login}; drop role ${login}`).execute(db);
    }
  });
});

test('a Temporal that has lost its store is told of what is open, and of nothing else', async () => {
  const over = await begin(db, await addWidget(db, 'i', NOW), NOW);
  const open = await begin(db, await addWidget(db, 'j', NOW), NOW);
  for (const { id } of [over, open]) await noteTold(db, id, NOW);
  await end(db, over, 'ok', NOW);
  expect(await listUntold(db, OPERATOR, NOW)).toEqual([]);
  await forgetTold(db, OPERATOR);
  expect((await listUntold(db, OPERATOR, NOW)).map(({ id }) => id)).toEqual([open.id]);
});

describe('stop and go', () => {
  const ann = { actor: 'ann' };
  const wanted = { at: later(10), reason: 'the cooling fails' };
  const held = () => db.transaction().execute((trx) => holdOperator(trx, OPERATOR));

  test('nothing begins and what is open is cancelled, until it goes on; then that runs again', async () => {
    const running = await begin(db, await addWidget(db, 'k', NOW), NOW);
    const ended = await begin(db, await addWidget(db, 'l', NOW), NOW);
    const waits = await addWidget(db, 'm', NOW);
    expect(await pauseOperators(db, ann, wanted)).toEqual({ operators: 1 });
    expect(await cancelReconciles(db, ann, wanted)).toEqual({ reconciles: 2 });
    expect(await held()).toBe(false);
    expect(await reconcileOf(running.id)).toMatchObject({ cancelled_by: 'ann', cancel_requested_at: later(10) });
    expect((await findResource(db, waits, later(11)))?.reason).toContain('everything is stopped');
    await end(db, ended, 'cancelled', later(11));
    expect(await rowOf(ended.resourceId)).toMatchObject({ due_at: null });
    // A second stop finds nothing more.
    expect(await pauseOperators(db, ann, { ...wanted, at: later(12) })).toEqual({ operators: 0 });
    expect(await cancelReconciles(db, ann, { ...wanted, at: later(12) })).toEqual({ reconciles: 0 });
    const going = { db, clock: () => later(20) };
    expect(await resumeOperators(going, ann, [later(10), later(12)])).toEqual({ operators: 1, reconciles: 2 });
    expect(await held()).toBe(true);
    expect(await rowOf(ended.resourceId)).toMatchObject({ due_at: later(20), cause: { type: 'manual', by: 'ann' } });
    await end(db, running, 'cancelled', later(21));
    expect(await rowOf(running.resourceId)).toMatchObject({ due_at: later(21), phase: 'queued' });
  });

  test('what somebody cancelled by hand, or what ran since, does not run again', async () => {
    const byHand = await begin(db, await addWidget(db, 'n', NOW), NOW);
    await db
      .updateTable('operator_reconciles')
      .set({ cancel_requested_at: later(5), cancelled_by: 'bob' })
      .where('id', '=', byHand.id)
      .execute();
    const since = await begin(db, await addWidget(db, 'o', NOW), NOW);
    await pauseOperators(db, ann, wanted);
    expect(await cancelReconciles(db, ann, wanted)).toEqual({ reconciles: 1 });
    await end(db, byHand, 'cancelled', later(11));
    await end(db, since, 'cancelled', later(11));
    await end(db, await begin(db, since.resourceId, later(12)), 'ok', later(13));
    const going = { db, clock: () => later(20) };
    expect(await resumeOperators(going, ann, [later(10)])).toEqual({ operators: 1, reconciles: 0 });
    expect(await rowOf(byHand.resourceId)).toMatchObject({ due_at: null });
  });

  test('operators that were stopped at no such moment stay stopped', async () => {
    await pauseOperators(db, ann, wanted);
    const going = { db, clock: () => later(20) };
    expect(await resumeOperators(going, ann, [later(9)])).toEqual({ operators: 0, reconciles: 0 });
    expect(await held()).toBe(false);
  });
});
