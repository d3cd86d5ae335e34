/** What Muster does by itself, how long records are kept, and secrets that are kept elsewhere. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { attributeTo, attributeWrites, recordAs } from '../../control/access/attribute-writes.ts';
import { trimAudit } from '../../control/audit/trim-audit.ts';
import { patchComponents } from '../../control/components/patch-components.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import { recordedSecrets } from '../../control/secrets/recorded-secrets.ts';
import { expireSessions } from '../../control/sessions/expire-sessions.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { admit } from '../../store/sessions/admission.ts';
import { writeProgress } from '../../store/sessions/progress.ts';
import { markPurged } from '../../store/sessions/sweep.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => sql`truncate audit`.execute(database.db));

const rows = () => database.db.selectFrom('audit').selectAll().orderBy('id').execute();
const component = (id: string) =>
  sql`insert into components (id, updated_at, enabled) values (${id}, now(), true)`.execute(database.db);

describe('what Muster does by itself', () => {
  test('progress of sessions and layers that they report are not recorded, their making is', async () => {
    const { db } = database;
    await component('e1');
    await sql`truncate audit`.execute(db);
    const { id, name } = await makeSession(db, { actor: 'batcher' });
    await admit(db, id, { job: 'job', maxRunning: 10, now: new Date() });
    await writeProgress(db, id, { phase: 'layer', layer: 0, message: 'layer 0', reason: null }, new Date());
    const runId = `${id}-1-0`;
    await ensureRun(db, { id: runId, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'disk' }, new Date());
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const run = { runId, sessionId: id, layer: 0, attempt: 1 };
    await insertHostResults(db, run, [{ host: 'e1', status: 'applied', ...counts }]);
    const layer = { cloneUrl: 'u', playbook: 'p', commit: 'c' };
    await recordLayer(db, { runId, streamId: id, layer: 0, attempt: 1, sessionName: name, ...layer }, new Date());
    await writeEnd(db, id, { succeeded: 'true', message: '', reason: null }, new Date());
    await markPurged(db, id, new Date());
    const reached = await sql<{ state: unknown[] }>`select state from components where id = 'e1'`.execute(db);
    expect(reached.rows[0]?.state).toHaveLength(1);
    expect(await rows()).toEqual([
      expect.objectContaining({
        action: 'create',
        kind: 'session',
        name,
        actor: 'batcher',
        request_id: null,
        via: null,
      }),
    ]);
  });

  test('what the batcher writes to components is, under its name', async () => {
    await component('e2');
    await sql`truncate audit`.execute(database.db);
    const deps = { db: database.db, clock: () => new Date() };
    await patchComponents(deps, { actor: 'batcher' }, [{ id: 'e2', error_count: 3 }], (after) => after.id);
    expect(await rows()).toEqual([
      expect.objectContaining({ actor: 'batcher', before: { error_count: 0 }, after: { error_count: 3 }, via: null }),
    ]);
  });

  test('a delete names the part that did it, and changes after it do not', async () => {
    const { db } = database;
    const { id, name } = await makeSession(db);
    await writeEnd(db, id, { succeeded: 'true', message: '', reason: null }, new Date());
    const readOptions = async () => ({ session_ttl: '1h' });
    const clock = () => new Date(Date.now() + 7_200_000);
    await attributeTo('session-ttl', () => expireSessions({ db, readOptions, clock }));
    expect((await rows()).at(-1)).toMatchObject({ action: 'delete', kind: 'session', name, actor: 'session-ttl' });
    await component('e3');
    expect((await rows()).at(-1)).toMatchObject({ name: 'e3', actor: null });
  });
});

describe('who asks', () => {
  test('is told by work at the same time apart, through transactions and inner words', async () => {
    const { db } = database;
    const write = (actor: string, id: string) =>
      attributeWrites({ actor, requestId: `r-${id}`, via: 'PUT /x' }, () =>
        db.transaction().execute(async (trx) => {
          await sql`insert into components (id, updated_at) values (${id}, now())`.execute(trx);
          await sql`select pg_sleep(0.02)`.execute(trx);
          await recordAs('rename', () => sql`update components set tags = '{"a":"b"}' where id = ${id}`.execute(trx));
          await sql`delete from components where id = ${id}`.execute(trx);
        }),
      );
    const names = Array.from({ length: 20 }, (_, index) => `w${index}`);
    await Promise.all(names.map((name) => write(`who-${name}`, name)));
    const all = await rows();
    expect(all).toHaveLength(60);
    for (const name of names) {
      const mine = all.filter((row) => row.name === name);
      expect(mine.map(({ action, actor, request_id }) => [action, actor, request_id])).toEqual(
        ['create', 'rename', 'delete'].map((action) => [action, `who-${name}`, `r-${name}`]),
      );
    }
  });

  test('may have a name that JSON of Postgres cannot hold', async () => {
    await attributeTo('a\u0000b\ud800', () => component('w-odd'));
    expect((await rows())[0]).toMatchObject({ actor: 'ab\ufffd' });
  });
});

describe('old records', () => {
  const fill = (count: number, days: number) =>
    sql`insert into audit (at, action, kind, name)
      select now() - make_interval(days => ${days}), 'update', 'component', 'o' || n from generate_series(1, ${count}::int) n`.execute(
      database.db,
    );
  const trim = (days: number, kept: number, slice: number) =>
    trimAudit({ db: database.db, clock: () => new Date(), auditKept: { days, rows: kept } }, slice);

  test('go when they are too old, in slices', async () => {
    await fill(25, 91);
    await fill(7, 89);
    expect(await trim(90, 1_000_000, 10)).toBe(25);
    expect(await rows()).toHaveLength(7);
    expect(await trim(90, 1_000_000, 10)).toBe(0);
  });

  test('go when they are too many, the oldest first', async () => {
    await fill(30, 2);
    await fill(12, 1);
    expect(await trim(90, 15, 10)).toBe(27);
    const left = await rows();
    expect(left).toHaveLength(15);
    expect(left.filter(({ at }) => at.getTime() > Date.now() - 1.5 * 86_400_000)).toHaveLength(12);
  });

  test('cost nothing to look for when there are none', async () => {
    expect(await trim(90, 15, 10)).toBe(0);
  });
});

describe('secrets of a cluster', () => {
  test('are recorded by name and key, and not when the write fails', async () => {
    const outside = createMemorySecretStore();
    const secrets = recordedSecrets(database.db, outside);
    await attributeWrites({ actor: 'ann', requestId: 'r1', via: 'PUT /s' }, () => secrets.put('a', 'k', 'hidden'));
    await secrets.putAll('b', { k: 'hidden' }, 'bob');
    await secrets.delete('b');
    expect((await rows()).map(({ actor, action, kind, name, via }) => [actor, action, kind, name, via])).toEqual([
      ['ann', 'update', 'secret', 'a/k', 'PUT /s'],
      ['bob', 'update', 'secret', 'b', null],
      [null, 'delete', 'secret', 'b', null],
    ]);
    expect(await secrets.get('a')).toEqual({ k: 'hidden' });
    expect(JSON.stringify(await rows())).not.toContain('hidden');
    const broken = recordedSecrets(database.db, {
      ...outside,
      put: async () => {
        throw new Error('the cluster is away');
      },
    });
    await expect(broken.put('c', 'k', 'v')).rejects.toThrow('away');
    expect(await rows()).toHaveLength(3);
  });
});

test('no trigger may plan nested loops: its plan, made for one row, is used for very many', async () => {
  const { rows: functions } = await sql<{ name: string; config: string[] | null }>`
    select proname as name, proconfig as config from pg_proc
    where proname like 'audit\\_%' and prorettype = 'trigger'::regtype`.execute(database.db);
  expect(functions.length).toBeGreaterThan(20);
  expect(functions.filter(({ config }) => !config?.includes('enable_nestloop=off'))).toEqual([]);
});
