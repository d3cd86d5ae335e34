/** The dry run: what it says is what the write then does, and nothing of it stays. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { REHEARSABLE } from '../../api/routes/service/rehearsable-routes.ts';
import { setSession } from '../sessions/session-fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { committedRoutes } from '../support/route-lines.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const URL = 'https://git.example.test/one.git';
const layersOf = (commit: string) => [{ clone_url: URL, playbook: 'site.yml', commit: commit.repeat(40) }];

let api: TokenApi;
let told = 0;
beforeAll(async () => {
  api = await createTokenApi({
    dispatcher: { kick: () => void told++ },
    tell: async () => void told++,
    engine: {
      finishDebug: async () => void told++,
      retryInPlace: async () => void told++,
      pokeQueue: async () => void told++,
    },
  });
});
afterAll(() => api.close());

const TABLES = ['components', 'configurations', 'sessions', 'outbox', 'schedules', 'webhooks', 'secrets', 'audit'];
const snapshot = async () => {
  const rows = await Promise.all(
    TABLES.map((table) =>
      sql<{
        text: string;
      }>`select coalesce(string_agg(r::text, ' ' order by r::text), '') as text from ${sql.table(table)} r`.execute(
        api.database.db,
      ),
    ),
  );
  return Object.fromEntries(TABLES.map((table, index) => [table, rows[index]?.rows[0]?.text]));
};

interface Request {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
}
const asked = (request: Request, token = api.tokens.admin) => api.as(token, 'POST', '/api/v1/dry-run', request);
const make = ({ method, path, query = {}, body }: Request) => {
  const words = new URLSearchParams(query as Record<string, string>).toString();
  return api.as(api.tokens.admin, method, words === '' ? path : `${path}?${words}`, body);
};
const must = async (request: Request) => {
  const answer = await make(request);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

beforeEach(async () => {
  const { db } = api.database;
  for (const table of ['outbox', 'sessions', 'schedules', 'webhooks', 'components', 'configurations'] as const)
    await db.deleteFrom(table).execute();
  await sql`delete from secrets`.execute(db);
  await must({ method: 'PUT', path: '/v3/configurations/web', body: { layers: layersOf('a') } });
  for (const id of ['n1', 'n2', 'n3'])
    await must({ method: 'PUT', path: `/v3/components/${id}`, body: { enabled: false, desired_config: 'web' } });
  await must({ method: 'POST', path: '/v3/sessions', body: { name: 'w1', configuration_name: 'web' } });
  await must({ method: 'POST', path: '/v3/sessions', body: { name: 'old', configuration_name: 'web' } });
  const { id } = await must({ method: 'GET', path: '/api/v1/sessions/old' });
  await setSession(db, id, { stage: 'ended', status: 'complete', succeeded: 'false' });
  await must({
    method: 'POST',
    path: '/api/v1/schedules',
    body: { name: 'day', cron: '0 3 * * *', action: { refresh: {} } },
  });
  await must({
    method: 'POST',
    path: '/api/v1/webhooks',
    body: { name: 'hook', url: 'https://hooks.example.test/x', events: ['session.ended'] },
  });
  await must({ method: 'PUT', path: '/api/v1/secrets/vault/key', body: { value: 'hidden-value' } });
});

const notSecret = ({ kind }: { kind: string }) => kind !== 'secret';

const WRITES: [string, Request, number][] = [
  ['a configuration that is new', { method: 'PUT', path: '/v3/configurations/db', body: { layers: layersOf('b') } }, 1],
  [
    'a configuration that is there',
    { method: 'PUT', path: '/v3/configurations/web', body: { layers: layersOf('b') } },
    1,
  ],
  ['a component', { method: 'PATCH', path: '/v3/components/n1', body: { enabled: true } }, 1],
  ['a component that is so', { method: 'PATCH', path: '/v3/components/n1', body: { enabled: false } }, 0],
  [
    'components',
    { method: 'PATCH', path: '/v3/components', body: { patch: { enabled: true }, filters: { ids: 'n1,n2' } } },
    2,
  ],
  ['a component to delete', { method: 'DELETE', path: '/v3/components/n3' }, 1],
  [
    'components by selection',
    {
      method: 'POST',
      path: '/api/v1/components/actions',
      body: { action: 'enable', selection: { ids: ['n1', 'n3'] } },
    },
    2,
  ],
  [
    'a session',
    { method: 'POST', path: '/v3/sessions', body: { name: 's1', configuration_name: 'web', ansible_limit: 'n1,n2' } },
    1,
  ],
  ['a retry', { method: 'POST', path: '/api/v1/sessions/old/retry', body: { hosts: 'all' } }, 1],
  ['a cancel', { method: 'POST', path: '/api/v1/sessions/cancel', body: { names: ['w1'] } }, 1],
  [
    'sessions to delete',
    { method: 'POST', path: '/api/v1/sessions/delete', body: { filter: { status: 'complete' } } },
    1,
  ],
  ['an option', { method: 'PATCH', path: '/v3/options', body: { batch_size: 7 } }, 1],
  [
    'a source',
    {
      method: 'POST',
      path: '/v3/sources',
      body: {
        name: 'one',
        clone_url: URL,
        credentials: { authentication_method: 'password', username: 'u', password: 'p' },
      },
    },
    2,
  ],
  ['a schedule', { method: 'POST', path: '/api/v1/schedules/day/pause', body: {} }, 1],
  ['a webhook', { method: 'DELETE', path: '/api/v1/webhooks/hook' }, 2],
  ['a token', { method: 'POST', path: '/api/v1/tokens', body: { name: 'ci', role: 'reader' } }, 1],
  ['a secret', { method: 'PUT', path: '/api/v1/secrets/vault/key', body: { value: 'other-value' } }, 1],
  ['the batcher', { method: 'POST', path: '/api/v1/batches/pause', body: {} }, 1],
];

describe('a dry run', () => {
  test.each(WRITES)('of %s changes nothing, and says what the write does', async (_, request, expected) => {
    const before = await snapshot();
    const toldBefore = told;
    const { status, body } = await asked(request);
    expect([status, body.changed]).toEqual([200, expected]);
    expect(await snapshot()).toEqual(before);
    expect(told).toBe(toldBefore);
    expect(JSON.stringify(body)).not.toMatch(/hidden-value|other-value/);
    await sql`truncate audit`.execute(api.database.db);
    const answer = await make(request);
    expect(answer.status).toBe(body.status);
    const records = await api.database.db
      .selectFrom('audit')
      .select(['kind', 'name', 'action'])
      .orderBy('id')
      .execute();
    // The store of secrets is not written: which of its keys are new is known to it alone.
    const ofChange = ({ kind, action }: { kind: string; action: string }) =>
      kind === 'secret' ? kind : `${kind} ${action}`;
    const kinds = (changes: { kind: string; action: string }[]) => [...new Set(changes.map(ofChange))].sort();
    expect(kinds(body.changes)).toEqual(kinds(records));
    expect(body.changes.filter(notSecret).length).toBe(records.filter(notSecret).length);
    await must({ method: 'POST', path: '/api/v1/batches/resume', body: {} });
    if (request.path === '/api/v1/tokens') await must({ method: 'DELETE', path: '/api/v1/tokens/ci' });
  });

  test('says which components change their status', async () => {
    const web = { method: 'PUT', path: '/v3/configurations/web', body: { layers: layersOf('b') } };
    expect((await asked(web)).body.becomes).toEqual([]);
    const desired = {
      method: 'PATCH',
      path: '/v3/components',
      body: { patch: { desired_config: '' }, filters: { ids: 'n1,n2' } },
    };
    expect((await asked(desired)).body.becomes).toEqual([
      { from: 'pending', to: 'unconfigured', count: 2, ids: ['n1', 'n2'] },
    ]);
    const gone = await asked({ method: 'DELETE', path: '/v3/components/n3' });
    expect(gone.body.becomes).toEqual([{ from: 'pending', to: null, count: 1, ids: ['n3'] }]);
  });

  test('names the hosts of a session where they are known', async () => {
    const session = (limit?: string) => ({
      method: 'POST',
      path: '/v3/sessions',
      body: { name: 's1', configuration_name: 'web', ...(limit ? { ansible_limit: limit } : {}) },
    });
    expect((await asked(session('n1,n2'))).body.hosts).toEqual({ names: ['n1', 'n2'], count: 2, unknown: null });
    expect((await asked(session('n*'))).body.hosts).toMatchObject({ count: 0, unknown: expect.any(String) });
  });

  test('is refused as its route refuses, with the roles of its route', async () => {
    const before = await snapshot();
    const same = { method: 'POST', path: '/v3/sessions', body: { name: 'w1', configuration_name: 'web' } };
    expect((await asked(same)).body).toEqual((await make(same)).body);
    const patch = { method: 'PATCH', path: '/v3/components/n1', body: { enabled: true } };
    expect((await asked(patch, api.tokens.reader)).body).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await asked(patch, api.tokens.node)).status).toBe(403);
    expect((await asked(patch, 'nobody')).status).toBe(401);
    expect((await asked({ ...patch, body: { enabled: 'perhaps' } })).body).toMatchObject({ status: 400 });
    expect((await asked({ method: 'DELETE', path: '/v3/configurations/web' })).body).toMatchObject({ status: 400 });
    expect(await snapshot()).toEqual(before);
  });

  test.each([
    { method: 'POST', path: '/api/v1/dry-run' },
    { method: 'POST', path: '/api/v1/import/options' },
    { method: 'POST', path: '/api/v1/secrets/rotate-key' },
    { method: 'DELETE', path: '/v3/components/../components' },
    { method: 'POST', path: '/api/v1/schedules/../pause' },
    { method: 'PUT', path: '/api/v1/secrets/%2E%2e/options' },
    { method: 'PUT', path: '/api/v1/secrets/one/.' },
    { method: 'DELETE', path: '/api/v1/secrets/..\\batches' },
    { method: 'POST', path: '/api/v1/webhooks/hook/test' },
  ])('of $method $path is none', async (request) => {
    expect((await asked(request)).body).toMatchObject({ status: 400, code: 'rehearsal_unsupported' });
  });

  test('whose records are held by another write is refused, and holds nothing up', async () => {
    const { db } = api.database;
    const held = await db.transaction().execute(async (trx) => {
      await trx.selectFrom('components').select('id').where('id', '=', 'n1').forUpdate().execute();
      return asked({ method: 'PATCH', path: '/v3/components/n1', body: { enabled: true } });
    });
    expect(held.body).toMatchObject({ status: 503, code: 'rehearsal_busy' });
    expect((await make({ method: 'PATCH', path: '/v3/components/n1', body: { enabled: true } })).status).toBe(200);
  });

  test('of many at once leaves no transaction open', async () => {
    const many = Array.from({ length: 8 }, (_, index) =>
      asked({ method: 'PATCH', path: `/v3/components/n${(index % 3) + 1}`, body: { enabled: true } }),
    );
    expect((await Promise.all(many)).map(({ body }) => body.changed)).toEqual(many.map(() => 1));
    await eventually('no transaction is open', async () => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
        where state like 'idle in transaction%' and datname = current_database()`.execute(api.database.db);
      return rows[0]?.count === 0;
    });
  });
});

test('each route of the list is a route', () => {
  const shape = (method: string, path: string) => `${method} ${path.replace(/:[a-z_]+/g, ':x')}`;
  const known = new Set(committedRoutes().map(({ method, path }) => shape(method, path)));
  expect(known.size).toBeGreaterThan(100);
  for (const route of REHEARSABLE) {
    const [method = '', path = ''] = route.split(' ');
    expect(known).toContain(shape(method, path));
  }
});
