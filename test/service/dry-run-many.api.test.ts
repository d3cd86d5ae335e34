/** Dry runs of writes to more than 1,000 components: the counts are those of the write, and few records are locked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const COUNT = 1_200;
const URL = 'https://git.example.test/one.git';
const layer = { clone_url: URL, playbook: 'site.yml', commit: 'a'.repeat(40) };
const id = (index: number) => `n${String(index).padStart(4, '0')}`;

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

interface Request {
  method: string;
  path: string;
  body?: unknown;
}
const asked = (request: Request, token = api.tokens.admin) => api.as(token, 'POST', '/api/v1/dry-run', request);
const make = ({ method, path, body }: Request) => api.as(api.tokens.admin, method, path, body);
async function must(request: Request) {
  const answer = await make(request);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}
const statuses = async () => {
  const { components } = await must({ method: 'GET', path: `/v3/components?limit=${COUNT}` });
  return new Map<string, string>(
    components.map((one: { id: string; configuration_status: string }) => [one.id, one.configuration_status]),
  );
};

beforeEach(async () => {
  const { db } = api.database;
  for (const table of ['components', 'configurations'] as const) await db.deleteFrom(table).execute();
  for (const name of ['web', 'db']) {
    const layers = [{ ...layer, playbook: `${name}.yml` }];
    await must({ method: 'PUT', path: `/v3/configurations/${name}`, body: { layers } });
  }
  const reached = { ...layer, playbook: 'web.yml', status: 'applied', session_name: 's' };
  // A third is configured, a third has failed, a third is pending and enabled.
  const body = Array.from({ length: COUNT }, (_, index) => ({
    id: id(index),
    desired_config: 'web',
    enabled: index % 3 === 2,
    tags: { role: index % 2 === 0 ? 'even' : 'odd' },
    ...(index % 3 === 0 ? { state: [reached] } : {}),
    ...(index % 3 === 1 ? { error_count: 9 } : {}),
  }));
  await must({ method: 'PUT', path: '/v3/components', body });
});

const action = (name: string, args?: object, selection: object = { filter: {} }): Request => ({
  method: 'POST',
  path: '/api/v1/components/actions',
  body: { action: name, selection, ...(args === undefined ? {} : { args }) },
});
const patch = (body: object, filters: object = {}): Request => ({
  method: 'PATCH',
  path: '/v3/components',
  body: { patch: body, filters },
});

const WRITES: [string, Request, number][] = [
  ['enable', action('enable'), 800],
  ['disable', action('disable'), 400],
  ['reset_errors', action('reset_errors'), 400],
  ['clear_state', action('clear_state'), 800],
  ['set_desired', action('set_desired', { desired_config: 'db' }), COUNT],
  ['set_desired as it is', action('set_desired', { desired_config: 'web' }), 400],
  ['set_tags', action('set_tags', { tags: { role: 'even' } }), 600],
  ['delete', action('delete'), COUNT],
  ['enable of ids', action('enable', undefined, { ids: [...Array(COUNT).keys()].map(id) }), 800],
  ['a patch by filter', patch({ enabled: true, tags: { role: 'odd' } }), 1_000],
  ['a patch of states by filter', patch({ state: [] }), 800],
  ['a patch that changes nothing', patch({ tags: { absent: '' } }), 0],
];

describe('a dry run of very many', () => {
  test.each(WRITES)('counts as the write does: %s', async (_, request, expected) => {
    const before = await statuses();
    const { status, body } = await asked(request);
    expect([status, body.changed]).toEqual([200, expected]);
    expect(await statuses()).toEqual(before);
    expect(body.changes.length).toBe(Math.min(20, expected));
    await sql`truncate audit`.execute(api.database.db);
    const answer = await must(request);
    const records = await api.database.db.selectFrom('audit').select('name').where('kind', '=', 'component').execute();
    expect(records.length).toBe(body.changed);
    if (answer.changed !== undefined) {
      expect([body.changed, body.unchanged]).toEqual([answer.changed, answer.unchanged]);
      expect(body.answer).toEqual(answer);
    } else expect(body.answer.component_ids).toEqual(answer.component_ids);
    const after = await statuses();
    const moved = new Map<string, number>();
    for (const [name, from] of before) {
      const to = after.get(name) ?? null;
      if (from !== to) moved.set(`${from} ${to}`, (moved.get(`${from} ${to}`) ?? 0) + 1);
    }
    const told = body.becomes.map(({ from, to, count }: Record<string, unknown>) => [`${from} ${to}`, count]);
    expect(new Map(told)).toEqual(moved);
  });

  test('locks the first alone: a record beyond them may be held by another write', async () => {
    await api.database.db.transaction().execute(async (trx) => {
      await trx
        .selectFrom('components')
        .select('id')
        .where('id', '=', id(COUNT - 1))
        .forUpdate()
        .execute();
      for (const request of [action('delete'), patch({ enabled: true })]) {
        const { status, body } = await asked(request);
        expect([status, body.total]).toEqual([200, COUNT]);
      }
    });
  });

  test('of a selection that is kept counts what vanished', async () => {
    const chosen = await must({ method: 'POST', path: '/api/v1/components/selections', body: { filter: {} } });
    await must({ method: 'DELETE', path: `/v3/components/${id(3)}` });
    const request = { method: 'POST', path: '/api/v1/components/actions' };
    const { body } = await asked({ ...request, body: { action: 'enable', selection: chosen.id } });
    expect(body).toMatchObject({ total: COUNT - 1, answer: { vanished: [id(3)] } });
  });

  test('is refused as its route refuses', async () => {
    expect((await asked(action('enable'), api.tokens.reader)).body).toMatchObject({ status: 403, code: 'forbidden' });
    const unknown = { ...action('enable'), body: { action: 'burn', selection: { filter: {} } } };
    expect((await asked(unknown)).body).toMatchObject({ status: 400, code: 'bad_request' });
    const bad = action('enable', undefined, { filter: { hosts: 'n[1' } });
    expect((await asked(bad)).body).toMatchObject({ status: 400, code: 'bad_hostlist' });
    expect((await asked(patch({ enabled: true }, { colour: 'red' }))).body.status).toBe(400);
  });

  test('warns of a desired configuration that is not there', async () => {
    const { body } = await asked(action('set_desired', { desired_config: 'nope' }));
    expect([body.changed, body.answer.warnings]).toEqual([COUNT, ['There is no configuration nope.']]);
  });
});

describe('a dry run of very many sessions', () => {
  const SESSIONS = 1_300;
  const command = (verb: string, body: object): Request => ({
    method: 'POST',
    path: `/api/v1/sessions/${verb}`,
    body,
  });

  beforeEach(async () => {
    const { db } = api.database;
    for (const table of ['outbox', 'sessions'] as const) await db.deleteFrom(table).execute();
    await must({ method: 'POST', path: '/v3/sessions', body: { name: 's0', configuration_name: 'web' } });
    const columns = await sql<{ name: string }>`select column_name as name from information_schema.columns
      where table_schema = current_schema() and table_name = 'sessions' and column_name not in ('id', 'name', 'queue') and is_generated = 'NEVER'`.execute(
      db,
    );
    const others = sql.join(columns.rows.map(({ name }) => sql.ref(name)));
    await sql`insert into sessions (id, name, ${others})
      select gen_random_uuid(), 's' || number, ${others} from sessions
      cross join generate_series(1, ${sql.lit(SESSIONS - 1)}) as number`.execute(db);
    await sql`update sessions set stage = 'admitted', status = 'running' where name > 's95'`.execute(db);
  });

  test.each<[string, Request]>([
    ['a cancel', command('cancel', { filter: { configuration: 'web' }, reason: 'test' })],
    ['a cancel of names', command('cancel', { names: [...Array(SESSIONS + 5).keys()].map((index) => `s${index}`) })],
    ['a delete', command('delete', { filter: { status: 'pending', configuration: 'web' } })],
    ['a delete of names', command('delete', { names: [...Array(SESSIONS + 5).keys()].map((index) => `s${index}`) })],
  ])('counts as the write does: %s', async (_, request) => {
    const { status, body } = await asked(request);
    expect(status).toBe(200);
    const answer = await must(request);
    expect(body.answer).toEqual(answer);
    expect(body.changed).toBe(answer.cancelled > 0 && answer.deleted === undefined ? answer.cancelled : answer.deleted);
  });

  test('locks the first alone', async () => {
    const { rows } = await sql<{ id: string }>`select id from sessions order by id desc limit 1`.execute(
      api.database.db,
    );
    await api.database.db.transaction().execute(async (trx) => {
      await sql`select from sessions where id = ${rows[0]?.id} for update`.execute(trx);
      const { status, body } = await asked(command('cancel', { filter: { configuration: 'web' } }));
      expect([status, body.changed]).toEqual([200, SESSIONS]);
    });
  });
});
