import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { isConnectionError, openDatabase } from '../../store/connection/database.ts';
import { eventually } from '../support/eventually.ts';
import { openProxy, type TcpProxy } from '../support/fakes/tcp-proxy.ts';
import { type Answer, createTestApi, type TestApi } from '../support/stack/test-api.ts';

const POOL = 4;
let api: TestApi;
/** The same database by the straight way. */
let observer: TestApi;
let proxy: TcpProxy;

beforeAll(async () => {
  const own = await createTestApi();
  const url = new URL(own.database.url);
  proxy = await openProxy(url.host);
  url.host = proxy.address;
  api = await createTestApi({ db: openDatabase({ url: url.href, poolSize: POOL, name: 'away' }) });
  const { close } = api;
  api.close = async () => {
    await api.deps.db.destroy();
    await close();
    await own.close();
    await proxy.cut();
  };
  observer = own;
});
afterAll(() => api.close());

beforeEach(poolOfItsOwn);

function expectRefused(answer: Answer): void {
  expect(answer.body).toMatchObject({ status: 503, code: 'storage_unavailable' });
  expect(answer.headers['retry-after']).toBeDefined();
}

const answers = () => eventually('an answer', async () => (await api.call('GET', '/v3/options')).status === 200);

/** Server processes of connections of the pool: also of broken ones, until they have noticed it. */
async function backends(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where application_name = 'away' order by pid`.execute(observer.database.db);
  return rows.map(({ pid }) => pid);
}

/** Waits until the pool has all of its connections, and the server no process of one that an earlier test has broken. */
async function poolOfItsOwn(): Promise<void> {
  const { db } = api.deps;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const own = new Set<number>();
  const hold = async (): Promise<void> => {
    try {
      await db.connection().execute(async (connection) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
        own.add(rows[0]?.pid ?? 0);
        await ended;
      });
    } catch (error) {
      // A busy server may take longer than the pool waits.
      if (!isConnectionError(error)) throw error;
      await hold();
    }
  };
  const holders = Array.from({ length: POOL }, hold);
  try {
    await eventually('all connections of the pool are there', () => own.size === POOL);
  } finally {
    end();
  }
  await Promise.all(holders);
  await eventually('broken connections are gone', async () => (await backends()).every((pid) => own.has(pid)));
}

describe('a database that does not answer any more', () => {
  test('is a 503 for every request, which health says too, until it answers again', async () => {
    proxy.freeze();
    const requests: [string, string, object?][] = [
      ['GET', '/v3/options'],
      ['GET', '/v3/components'],
      ['PUT', '/v3/components/x', {}],
      ['PATCH', '/v3/components', { patch: {}, filters: {} }],
      ['DELETE', '/v3/sessions'],
    ];
    // More than there are connections, so that some wait for one.
    const both = [...requests, ...requests].map(([method, url, body]) => api.call(method, url, body));
    for (const answer of await Promise.all(both)) expectRefused(answer);
    for (const answer of await Promise.all(requests.map((request) => api.call(...request)))) {
      expectRefused(answer);
    }
    expect((await api.call('GET', '/healthz')).body.db_status).toBe('not_available');
    proxy.thaw();
    await answers();
    expect((await api.call('GET', '/healthz')).body.db_status).toBe('ok');
  });

  test('is a 503 when its processes are stopped, and new ones serve', async () => {
    const stopped = await backends();
    expect(stopped.length).toBeGreaterThan(0);
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    try {
      const requests = Array.from({ length: POOL }, () => api.call('GET', '/v3/options'));
      for (const answer of await Promise.all(requests)) expectRefused(answer);
      await answers();
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    }
  });
});

test('one frozen connection fails its own request only', async () => {
  const [pid] = await backends();
  if (pid === undefined) throw new Error('no connection');
  process.kill(pid, 'SIGSTOP');
  try {
    const all = await Promise.all(Array.from({ length: POOL }, () => api.call('GET', '/v3/options')));
    const refused = all.filter((answer) => answer.status === 503);
    expect(refused).toHaveLength(1);
    expect(all.filter((answer) => answer.status === 200)).toHaveLength(POOL - 1);
    for (let turn = 0; turn < 2 * POOL; turn++) expect((await api.call('GET', '/v3/options')).status).toBe(200);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});

test('a write that waits for another one is not taken for a lost one', async () => {
  await api.call('PUT', '/v3/components/held', {});
  const { patched, waited } = await api.deps.db.transaction().execute(async (trx) => {
    await sql`select from components where id = 'held' for update`.execute(trx);
    const patching = api.call('PATCH', '/v3/components/held', { enabled: true });
    const age = await eventually('the patch has waited for longer than any silence may last', async () => {
      const { rows } = await sql<{ age: number }>`
        select extract(epoch from now() - query_start)::float as age from pg_stat_activity
        where application_name = 'away' and wait_event_type = 'Lock'`.execute(observer.database.db);
      return (rows[0]?.age ?? 0) > 5 ? rows[0]?.age : null;
    });
    return { patched: { patching }, waited: age };
  });
  expect(waited).toBeGreaterThan(5);
  expect(await patched.patching).toMatchObject({ status: 200, body: { enabled: true } });
});

test('health does not wait for a pool that is busy', async () => {
  const { db } = api.deps;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let holding = 0;
  const holders = Array.from({ length: POOL }, () =>
    db.connection().execute(async () => {
      holding++;
      await ended;
    }),
  );
  await eventually('all connections are taken', () => holding === POOL);
  expect((await api.call('GET', '/healthz')).body.db_status).toBe('ok');
  end();
  await Promise.all(holders);
});

test('a statement above its limit ends, and its connection serves on', async () => {
  const db = openDatabase({ url: observer.database.url, poolSize: 1, statementMs: 2_000 });
  await expect(sql`select pg_sleep(30)`.execute(db)).rejects.toMatchObject({ code: '57014' });
  expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  await db.destroy();
});

test('a pool of a frozen database can be closed', async () => {
  const db = openDatabase({ url: api.database.url.replace(/@[^/]+/, `@${proxy.address}`), poolSize: 1 });
  await sql`select 1`.execute(db);
  proxy.freeze();
  const failed = sql`select 1`.execute(db).catch((error: unknown) => error);
  await db.destroy();
  expect(isConnectionError(await failed)).toBe(true);
  proxy.thaw();
});
