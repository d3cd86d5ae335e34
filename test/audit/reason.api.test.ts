/** Why a write was asked for: from the header, and from a body, into each record that the write leaves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { REASON_MAX } from '../../domain/reason.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());
beforeEach(() => sql`truncate audit`.execute(api.database.db));

const because = (reason: string) => ({ 'muster-reason': encodeURIComponent(reason) });
const as = (method: string, path: string, body?: unknown, headers = {}) =>
  api.as(api.tokens.operator, method, path, body, headers);
const reasons = async () => {
  const { records } = (await api.as(api.tokens.admin, 'GET', '/api/v1/audit')).body;
  return records.map(({ name, action, reason }: Record<string, unknown>) => [name, action, reason]).reverse();
};

describe('the header', () => {
  test('is in every record of the write, of any surface, and of no other write', async () => {
    await as('PUT', '/v3/components', [{ id: 'r1' }, { id: 'r2' }], because('rack "r1" \\ ä 🔥'));
    await as('PATCH', '/v2/components/r1', { enabled: true }, because('a test'));
    await as('PATCH', '/v3/components/r1', { enabled: false });
    await as('POST', '/api/v1/components/actions', { action: 'delete', selection: { ids: ['r2'] } }, because('gone'));
    expect(await reasons()).toEqual([
      ['r1', 'create', 'rack "r1" \\ ä 🔥'],
      ['r2', 'create', 'rack "r1" \\ ä 🔥'],
      ['r1', 'update', 'a test'],
      ['r1', 'update', null],
      ['r2', 'delete', 'gone'],
    ]);
    const { entries } = (await api.as(api.tokens.reader, 'GET', '/api/v1/components/r1/timeline')).body;
    expect(entries.map(({ reason }: { reason: string | null }) => reason)).toEqual([
      null,
      'a test',
      'rack "r1" \\ ä 🔥',
    ]);
  });

  test('of the longest kind leaves the name of who asked whole', async () => {
    const longest = '語'.repeat(REASON_MAX);
    const headers = { ...because(longest), 'x-request-id': 'x'.repeat(128) };
    expect((await as('PUT', '/v3/components/long', {}, headers)).status).toBe(200);
    const { records } = (await api.as(api.tokens.admin, 'GET', '/api/v1/audit?name=long')).body;
    expect(records).toEqual([
      expect.objectContaining({ actor: 'token/ops', request_id: 'x'.repeat(128), reason: longest }),
    ]);
  });

  test('is in records of secrets too, which no trigger writes on a cluster', async () => {
    await api.as(api.tokens.admin, 'PUT', '/api/v1/secrets/why/key', { value: 'v' }, because('rotated'));
    expect(await reasons()).toEqual([['why/key', 'create', 'rotated']]);
  });

  test.each(['%', '%C3%28', 'x'.repeat(REASON_MAX + 1)])('%s is refused, and nothing is written', async (header) => {
    const answer = await as('PUT', '/v3/components/never', {}, { 'muster-reason': header });
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
    expect(answer.body.detail).toContain('Muster-Reason');
    expect((await as('GET', '/v3/components/never')).status).toBe(404);
    expect(await reasons()).toEqual([]);
  });

  test('of a read is not looked at', async () => {
    expect((await as('GET', '/v3/components', undefined, { 'muster-reason': '%' })).status).toBe(200);
  });
});

describe('a body', () => {
  beforeAll(async () => {
    await as('PUT', '/v3/configurations/web', {
      layers: [{ clone_url: 'https://git.example.test/a.git', playbook: 'p.yml', commit: 'a'.repeat(40) }],
    });
    for (const name of ['b1', 'b2', 'b3'])
      expect((await as('POST', '/v3/sessions', { name, configuration_name: 'web' })).status).toBe(201);
  });

  test('says why a session was cancelled, whatever the header says', async () => {
    await as('POST', '/api/v1/sessions/b1/cancel', { reason: 'maintenance\nbegins' }, because('other words'));
    await as('POST', '/api/v1/sessions/b2/cancel', {}, because('from the header'));
    await as('POST', '/api/v1/sessions/cancel', { names: ['b3'], reason: 'all of them' });
    expect(await reasons()).toEqual([
      ['b1', 'cancel', 'maintenance begins'],
      ['b2', 'cancel', 'from the header'],
      ['b3', 'cancel', 'all of them'],
    ]);
  });
});

test('the function of every audited table writes the reason', async () => {
  const { rows } = await sql<{ name: string }>`
    select proname as name from pg_proc
    where proname ~ '^audit_.*_(insert|update|delete)$' and prosrc not like '%writer ->> ''reason''%'`.execute(
    api.database.db,
  );
  expect(rows).toEqual([]);
  const all = await sql<{ count: number }>`
    select count(*)::int as count from pg_proc where proname ~ '^audit_.*_(insert|update|delete)$'`.execute(
    api.database.db,
  );
  expect(all.rows[0]?.count).toBeGreaterThan(30);
});
