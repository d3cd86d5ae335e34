/** The list of audit records: what it shows to whom, in pages, and what a record says. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const URL = 'https://git.example.test/a.git';
const COMMIT = 'a'.repeat(40);

interface Shown {
  id: string;
  time: string;
  name: string;
  kind: string;
  action: string;
}

describe('with access control', () => {
  let api: TokenApi;
  beforeAll(async () => {
    api = await createTokenApi();
  });
  afterAll(() => api.close());
  beforeEach(() => sql`truncate audit`.execute(api.database.db));

  const list = async (query = '', token = api.tokens.admin): Promise<Shown[]> =>
    (await api.as(token, 'GET', `/api/v1/audit${query}`)).body.records;

  test('a change is recorded with who, what, before and after, and the request', async () => {
    const headers = { 'x-request-id': 'change-1' };
    await api.as(api.tokens.operator, 'PUT', '/v3/components/a1', { tags: { k: 'v' } });
    await api.as(api.tokens.operator, 'PATCH', '/v3/components/a1', { enabled: true, tags: { k: 'w' } }, headers);
    const [changed, made] = await list('?name=a1');
    expect(changed).toEqual({
      id: expect.stringMatching(/^\d+-\d+$/),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: 'token/ops',
      action: 'update',
      kind: 'component',
      name: 'a1',
      before: { enabled: false, tags: { k: 'v' } },
      after: { enabled: true, tags: { k: 'w' } },
      request_id: 'change-1',
      via: 'PATCH /v3/components/:component_id',
      reason: null,
    });
    expect(made).toMatchObject({ action: 'create', before: null, after: { enabled: false, tags: { k: 'v' } } });
  });

  test('a node that reports is named by its token', async () => {
    await api.as(api.tokens.operator, 'PUT', '/v3/components/x1', {});
    const report = { clone_url: URL, playbook: 'p.yml', commit: COMMIT, session_name: 'boot' };
    await api.as(api.tokens.node, 'PATCH', '/v3/components/x1', { state_append: report });
    expect((await list())[0]).toMatchObject({
      actor: 'token/node-x1',
      before: { state: [] },
      after: { state: [expect.objectContaining({ playbook: 'p.yml', status: 'applied' })] },
    });
  });

  test('one line for each record of a bulk write, and what did not change is not shown', async () => {
    const ids = Array.from({ length: 2_500 }, (_, index) => `b${String(index).padStart(4, '0')}`);
    await api.as(
      api.tokens.operator,
      'PUT',
      '/v3/components',
      ids.map((id) => ({ id, tags: { site: 'a' } })),
    );
    await api.as(api.tokens.operator, 'PATCH', '/v3/components', {
      patch: { enabled: true },
      filters: { tags: 'site=a' },
    });
    const records = await sql<{ action: string; count: number }>`
      select action, count(*) as count, min(before::text) as before, max(before::text) as "lastBefore", min(after::text) as after
      from audit where action = 'update' group by action`.execute(api.database.db);
    const before = '{"enabled": false}';
    expect(records.rows).toEqual([
      { action: 'update', count: 2_500, before, lastBefore: before, after: '{"enabled": true}' },
    ]);
  });

  test('a request that fails leaves none, though it had written before', async () => {
    await api.as(api.tokens.operator, 'PUT', '/v3/components/r1', {});
    await sql`truncate audit`.execute(api.database.db);
    const all = [
      { id: 'r1', enabled: true },
      { id: 'nobody', enabled: true },
    ];
    expect((await api.as(api.tokens.operator, 'PATCH', '/v3/components', all)).status).toBe(404);
    expect((await api.as(api.tokens.operator, 'PUT', '/v3/components/r2', { enabled: 1 })).status).toBe(400);
    expect((await api.as(api.tokens.reader, 'PUT', '/v3/components/r2', {})).status).toBe(403);
    expect((await api.as(api.tokens.operator, 'DELETE', '/v3/components/r3')).status).toBe(404);
    expect(await list()).toEqual([]);
    await api.database.db
      .transaction()
      .execute(async (trx) => {
        await sql`update components set enabled = true where id = 'r1'`.execute(trx);
        throw new Error('broken off');
      })
      .catch(() => undefined);
    expect(await list()).toEqual([]);
  });

  test('a request that comes again with its key is recorded once', async () => {
    const send = () =>
      api.as(
        api.tokens.operator,
        'PUT',
        '/v3/components/once',
        {},
        { 'idempotency-key': 'k', 'x-request-id': 'first' },
      );
    await send();
    await send();
    expect((await list('?kind=component')).map(({ name }) => name)).toEqual(['once']);
  });

  test('filters narrow it, all together', async () => {
    await api.as(api.tokens.operator, 'PUT', '/v3/components/f1', {});
    await api.as(api.tokens.admin, 'PATCH', '/v3/components/f1', { enabled: true });
    await api.as(api.tokens.admin, 'PUT', '/v3/configurations/f1', {
      layers: [{ clone_url: URL, playbook: 'p.yml', commit: COMMIT }],
    });
    await api.as(api.tokens.operator, 'DELETE', '/v3/components/f1');
    const all = await list();
    expect(all.map(({ action, kind }) => `${action} ${kind}`)).toEqual([
      'delete component',
      'create configuration',
      'update component',
      'create component',
    ]);
    const kinds = async (query: string) => (await list(query)).map(({ action, kind }) => `${action} ${kind}`);
    expect(await kinds('?actor=token/root')).toEqual(['create configuration', 'update component']);
    expect(await kinds('?actor=token/root&kind=component')).toEqual(['update component']);
    expect(await kinds('?kind=configuration&name=f1')).toEqual(['create configuration']);
    expect(await kinds('?action=create')).toEqual(['create configuration', 'create component']);
    expect(await kinds('?actor=&kind=&name=&action=')).toHaveLength(4);
    expect(await kinds('?actor=nobody')).toEqual([]);
    const [last, , second] = all;
    expect(await kinds(`?since=${second?.time}`)).toHaveLength(3);
    expect(await kinds(`?until=${second?.time}`)).toHaveLength(2);
    expect(await kinds(`?since=${last?.time}&until=${last?.time}`)).toEqual(['delete component']);
    expect(await kinds('?since=2100-01-01T00:00:00%2B01:00')).toEqual([]);
  });

  test('its pages miss and repeat nothing, whatever is written meanwhile', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => ({ id: `p${index}` }));
    // One statement: all of one time.
    await api.as(api.tokens.operator, 'PUT', '/v3/components', ids);
    const all = (await list()).map(({ id }) => id);
    expect(new Set(all).size).toBe(25);
    const seen: string[] = [];
    let query: string | null = '?limit=10&kind=component';
    while (query !== null) {
      const { records, next }: { records: Shown[]; next: Record<string, string> | null } = (
        await api.as(api.tokens.admin, 'GET', `/api/v1/audit${query}`)
      ).body;
      seen.push(...records.map(({ id }) => id));
      await api.as(api.tokens.operator, 'PATCH', '/v3/components/p1', { tags: { seen: String(seen.length) } });
      query = next === null ? null : `?${new URLSearchParams(next)}`;
    }
    expect(seen).toEqual(all);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'since=yesterday',
    'since=2026-11-21',
    'until=2026-13-01T00:00:00Z',
    'after_id=1',
    'after_id=1-x',
    'after_id=99999999999999-1',
    "after_id=1-1';--",
  ])('refuses %s', async (query) => {
    const answer = await api.as(api.tokens.admin, 'GET', `/api/v1/audit?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  });

  test('operators see it without tokens, secrets and webhooks; readers and nodes do not', async () => {
    await api.as(api.tokens.admin, 'POST', '/api/v1/tokens', { role: 'reader', name: 'new' });
    await api.as(api.tokens.admin, 'PUT', '/api/v1/secrets/some/key', { value: 'v' });
    const url = 'https://hooks.example.test/secret-path';
    await api.as(api.tokens.admin, 'POST', '/api/v1/webhooks', { name: 'hook', url, events: ['session.ended'] });
    await api.as(api.tokens.admin, 'PATCH', '/v3/options', { batch_size: 12 });
    const kinds = async (token: string) => [...new Set((await list('', token)).map(({ kind }) => kind))].sort();
    expect(await kinds(api.tokens.operator)).toEqual(['options']);
    expect(await kinds(api.tokens.admin)).toEqual(['options', 'secret', 'token', 'webhook']);
    expect(await list('?kind=token', api.tokens.operator)).toEqual([]);
    for (const token of [api.tokens.reader, api.tokens.node]) {
      expect((await api.as(token, 'GET', '/api/v1/audit')).status).toBe(403);
    }
    expect((await api.as(api.tokens.reader, 'GET', '/api/v1/components/f9/timeline')).status).toBe(404);
    expect((await api.as(api.tokens.node, 'GET', '/api/v1/components/x1/timeline')).status).toBe(403);
  });

  test('passwords of URLs are masked, tags stand as they are', async () => {
    const secret = 'https://ann:s3cret@git.example.test/a.git';
    const tags = { link: secret };
    await api.as(api.tokens.operator, 'PUT', '/v3/components/m1', {
      tags,
      state: [{ clone_url: secret, playbook: 'p', commit: COMMIT, status: 'skipped', session_name: 's' }],
    });
    const layer = { name: 'a@b', clone_url: 'https://git.example.test/a.git', playbook: 'p.yml', commit: COMMIT };
    await api.as(api.tokens.operator, 'PUT', '/v3/configurations/m1', { layers: [layer] });
    // Records of before may have what is refused today.
    const old = {
      layers: [{ ...layer, clone_url: secret }],
      additional_inventory: { clone_url: 'https://token-alone@git.example.test/b.git', commit: COMMIT },
    };
    const { db } = api.database;
    await sql`update configurations set record = record || ${JSON.stringify(old)}::jsonb where name = 'm1'`.execute(db);
    const option = JSON.stringify({ additional_inventory_url: secret });
    await sql`update options set record = record || ${option}::jsonb`.execute(db);
    const made = await api.as(api.tokens.operator, 'POST', '/v3/sessions', {
      name: 'm1',
      configuration_name: 'm1',
      tags,
      ansible_passthrough: `-e url=${secret}`,
    });
    expect(made.body).toMatchObject({ name: 'm1' });
    const records = await list();
    const masked = 'https://ann:***@git.example.test/a.git';
    const [session, options, configuration, _created, component] = records;
    expect(session).toMatchObject({ after: { tags, ansible_passthrough: `-e url=${masked}` } });
    expect(options).toMatchObject({ after: { additional_inventory_url: masked } });
    expect(configuration).toMatchObject({
      after: {
        layers: [expect.objectContaining({ name: 'a@b', clone_url: masked, commit: COMMIT })],
        additional_inventory: expect.objectContaining({ clone_url: 'https://***@git.example.test/b.git' }),
      },
    });
    expect(component).toMatchObject({ after: { tags, state: [expect.objectContaining({ clone_url: masked })] } });
  });
});

describe('without access control', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi({ access: { mode: 'none', actorHeader: 'x-who' } });
  });
  afterAll(() => api.close());

  const newest = async () => (await api.call('GET', '/api/v1/audit?limit=1')).body.records[0];

  test('nobody is known unless the gateway says who', async () => {
    await api.call('PUT', '/v3/components/n1', {}, { 'x-who': 'ann' });
    expect(await newest()).toMatchObject({ actor: 'ann', action: 'create' });
    await api.call('PATCH', '/v3/components/n1', { enabled: true });
    expect(await newest()).toMatchObject({ actor: null, action: 'update' });
    await api.call('DELETE', '/v3/components/n1', undefined, { 'x-who': 'bob' });
    expect(await newest()).toMatchObject({ actor: 'bob', action: 'delete', after: null });
  });

  test('who calls himself a session is recorded all the same', async () => {
    await api.call('PUT', '/v3/components/n2', {});
    await api.call('PATCH', '/v3/components/n2', { enabled: true }, { 'x-who': 'session/night' });
    expect(await newest()).toMatchObject({ actor: 'session/night', name: 'n2', after: { enabled: true } });
  });

  test.each([
    '*/ drop table audit; --',
    "'; drop table audit; --",
    'a'.repeat(500),
    'caf\u00e9 \u00ff',
    '{"actor":"root"}',
    '\\u0000',
    '$1 :name ?',
  ])('the actor %s is written as it is', async (actor) => {
    const id = `h-${actor.length}-${actor.charCodeAt(0)}`;
    const answer = await api.call('PUT', `/v3/components/${id}`, {}, { 'x-who': actor });
    expect(answer.status).toBe(200);
    expect(await newest()).toMatchObject({ actor: actor.slice(0, 200), name: id });
  });

  test.each(["'; drop table audit; --", '*/ $$', 'ä\u2028', '\\', '"quoted"', '{}', '%s'])(
    'the name %s is written as it is',
    async (name) => {
      const tags = { [name]: name };
      await api.call('PUT', `/v3/components/${encodeURIComponent(name)}`, { tags });
      expect(await newest()).toMatchObject({ name, after: { tags } });
      const { body } = await api.call('GET', `/api/v1/audit?name=${encodeURIComponent(name)}`);
      expect(body.records).toHaveLength(1);
    },
  );
});
