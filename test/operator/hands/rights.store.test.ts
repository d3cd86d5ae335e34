/** What the login of an operator may: its own work, and nothing of others. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { forgetRuns } from '../../../control/runs/forget-runs.ts';
import { openRun } from '../../../control/runs/open-run.ts';
import { runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../../domain/operator/resource-words.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { olderShape } from '../../../store/migrations/index.ts';
import { deleteReconciles } from '../../../store/operator/old-reconciles.ts';
import { listOperators, listResources } from '../../../store/operator/reads.ts';
import { noteRunMachine } from '../../../store/runs/run-machines.ts';
import { markRunEnded, markRunStarted } from '../../../store/runs/runs.ts';
import { appendEvents, appendOutput } from '../../../store/runs/streams.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { addOperator, addWidget, begin, end, MACHINE } from './fixtures.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const suffix = randomBytes(4).toString('hex');
const LOGINS = [`op_one_${suffix}`, `op_two_${suffix}`] as const;
let database: TestDatabase;
let logins: Db[];

beforeAll(async () => {
  database = await createTestDatabase();
  const { db, url } = database;
  // The group role is one of the whole server: another test may make it at the same time.
  await sql`create role muster_operator nologin`.execute(db).catch(() => undefined);
  for (const login of LOGINS)
    await sql.raw(`create role ${login} login password 'p' in role muster_operator`).execute(db);
  for (const _ of [1, 2]) await sql`select muster_grant_operators()`.execute(db);
  logins = LOGINS.map((login) => {
    const address = new URL(url);
    address.username = login;
    address.password = 'p';
    return openDatabase({ url: address.href, name: login });
  });
});
afterAll(async () => {
  for (const login of logins) await login.destroy();
  const { db } = database;
  for (const login of LOGINS) await sql.raw(`drop owned by ${login}; drop role ${login}`).execute(db);
  await database.close();
});

/** A whole reconcile with its run, by a login. */
async function work(login: Db, operator: string): Promise<{ resource: string; record: string; runId: string }> {
  await addOperator(login, NOW, operator);
  const resource = await addWidget(login, 'w', NOW, { operator });
  const record = await begin(login, resource, NOW);
  const runId = runIdOfReconcile(record.id);
  const owner = { kind: RECONCILE_KIND, id: record.id };
  await openRun(
    login,
    { id: runId, sessionId: null, owner, streamId: runId, layer: 0, attempt: 1, host: MACHINE },
    NOW,
  );
  await markRunStarted(login, runId, NOW);
  const place = { streamId: runId, runId, layer: 0, attempt: 1 };
  await appendEvents(login, place, [{ time: NOW, type: 'stats', host: null, line: 1, data: {} }]);
  await appendOutput(login, place, 0, 'PLAY\n');
  await markRunEnded(login, runId, 'ended', 2, NOW);
  expect(await end(login, record, 'failed', NOW, ['boom'])).toBe(true);
  return { resource, record: record.id, runId };
}

describe('the login of an operator', () => {
  test('does all the work of its operator, the first failure included', async () => {
    const [one] = logins as [Db, Db];
    await database.db
      .insertInto('webhooks')
      .values({
        ...{ name: 'w', url: 'https://hook.example/', enabled: true, allow_private_redirects: false },
        ...{ events: ['operator.failed'], created_at: NOW, updated_at: NOW, actor: null },
      })
      .execute();
    expect(await olderShape(one)).toBeNull();
    const { record } = await work(one, 'first');
    const notified = await database.db.selectFrom('notifications').select('event').execute();
    expect(notified).toEqual([{ event: 'operator.failed' }]);
    await forgetRuns(one, { kind: RECONCILE_KIND, id: record });
    await deleteReconciles(one, [record]);
    expect(await database.db.selectFrom('runs').select('id').execute()).toEqual([]);
  });

  test('sees its own rows alone, and everybody else sees all', async () => {
    const [one, two] = logins as [Db, Db];
    const mine = await work(one, 'first');
    const others = await work(two, 'second');
    expect((await listOperators(one, NOW)).map(({ name }) => name)).toEqual(['first']);
    const resources = await listResources(one, {}, null, 10, NOW);
    expect(resources.map(({ id }) => id)).toEqual([mine.resource]);
    for (const [table, column] of [
      ['runs', 'id'],
      ['streams', 'id'],
      ['events', 'stream_id'],
      ['output', 'stream_id'],
    ] as const) {
      const ids = async (db: Db) => {
        const { rows } = await sql<{
          id: string;
        }>`select distinct ${sql.ref(column)} as id from ${sql.table(table)}`.execute(db);
        return rows.map(({ id }) => id).sort();
      };
      expect([table, await ids(two)]).toEqual([table, [others.runId]]);
      expect([table, await ids(database.db)]).toEqual([table, [mine.runId, others.runId].sort()]);
    }
  });

  test.each([
    ['a run of a session', `insert into streams (id) values ('00000000-0000-4000-8000-000000000000')`],
    [
      "an event of another operator's run",
      `insert into events (stream_id, seq, time, type, data)
      values ('reconcile-00000000-0000-4000-8000-000000000000-1', 1, now(), 'x', '{}')`,
    ],
    [
      'an operator of another login',
      `insert into operators (name, home, version, db_role, registered_at)
      values ('forged', '/', '1', 'postgres', now())`,
    ],
    [
      'a resource of another operator',
      `insert into operator_resources (operator, api_group, version, kind, namespace, name, uid, generation,
      seen_mark, deleting, phase, created_at, updated_at) values ('second', '', 'v1', 'K', '', 'n', 'u', 1, '', false, 'waiting', now(), now())`,
    ],
  ])('may not write %s', async (_, statement) => {
    const [one] = logins as [Db, Db];
    await expect(sql.raw(statement).execute(one)).rejects.toThrow(/row-level security|violates/);
  });

  test('changes nothing of another operator', async () => {
    const [one] = logins as [Db, Db];
    const touched = await sql`update operator_resources set paused_at = now() where operator = 'second'`.execute(one);
    expect(touched.numAffectedRows).toBe(0n);
    expect((await sql`delete from operators where name = 'second'`.execute(one)).numAffectedRows).toBe(0n);
  });

  test('announces its machine, and touches none of sessions', async () => {
    const [one] = logins as [Db, Db];
    await noteRunMachine(database.db, { machine: 'of-sessions', queue: 'q', kind: 'sessions' }, NOW);
    await noteRunMachine(one, { machine: 'mine', queue: 'q', kind: 'operator' }, NOW);
    await noteRunMachine(one, { machine: 'mine', queue: 'other', kind: 'operator' }, NOW);
    const seen = await sql<{ machine: string }>`select machine from run_machines`.execute(one);
    expect(seen.rows).toEqual([{ machine: 'mine' }]);
    expect((await sql`delete from run_machines where machine = 'of-sessions'`.execute(one)).numAffectedRows).toBe(0n);
    const forged = noteRunMachine(one, { machine: 'of-sessions', queue: 'q', kind: 'operator' }, NOW);
    await expect(forged).rejects.toThrow(/row-level security/);
  });

  test("has webhooks told of no failure of another operator's reconcile", async () => {
    const [one, two] = logins as [Db, Db];
    const { record } = await work(two, 'third');
    await sql`delete from operator_failures where reconcile_id = ${record}`.execute(database.db);
    await sql`delete from notifications`.execute(database.db);
    await sql`insert into operator_failures values (${record}, 'first', now())`.execute(one);
    expect(await database.db.selectFrom('notifications').select('id').execute()).toEqual([]);
  });

  test.each(['secrets', 'tokens', 'sessions', 'components', 'webhooks', 'notifications', 'audit'])(
    'reads nothing of %s',
    async (table) => {
      const [one] = logins as [Db, Db];
      await expect(sql.raw(`select 1 from ${table}`).execute(one)).rejects.toThrow(/permission denied/);
    },
  );

  test('reads of tokens of runs no more than whose they are', async () => {
    const [one] = logins as [Db, Db];
    await expect(sql`select * from run_tokens`.execute(one)).rejects.toThrow(/permission denied/);
  });
});
