/** Retrying and deleting many sessions by one request, and the list that shows which they are. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, addRun, endSession, sessionId, setSession } from '../session-fixtures.ts';

let api: TestApi;
let kicks = 0;
const told: unknown[] = [];
beforeAll(async () => {
  api = await createTestApi({
    dispatcher: { kick: () => void kicks++ },
    engine: {
      finishDebug: async () => undefined,
      retryInPlace: async (id, hosts) => void told.push([id, hosts]),
      pokeQueue: async () => undefined,
    },
  });
  await addConfiguration(api.deps.db, 'web');
  await addConfiguration(api.deps.db, 'db');
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.call('DELETE', '/v3/sessions?status=');
  told.length = 0;
});

const post = (what: string, body: unknown, headers = {}) => api.call('POST', `/api/v1/sessions/${what}`, body, headers);
const list = async (query: string) => (await api.call('GET', `/api/v1/sessions?${query}`)).body;
const names = async (query = '') => (await list(query)).sessions.map(({ name }: { name: string }) => name);

async function make(name: string, body: object = {}): Promise<string> {
  const answer = await api.call('POST', '/v3/sessions', { name, configuration_name: 'web', ...body });
  expect(answer.status).toBe(201);
  return sessionId(api.deps.db, name);
}

/** A session that has ended, with a result of each host. */
async function ended(name: string, hosts: Record<string, 'applied' | 'failed'>, body: object = {}): Promise<string> {
  const id = await make(name, body);
  const results = Object.entries(hosts).map(([host, status]) => ({ host, status }));
  const failed = results.some(({ status }) => status === 'failed');
  await addRun(api.deps.db, id, { layer: 0, exitCode: failed ? 2 : 0, results });
  await endSession(api.deps.db, id, failed ? 'false' : 'true');
  return id;
}

describe('the list', () => {
  beforeEach(async () => {
    await ended('one', { n1: 'applied', n2: 'failed' });
    await ended('two', { n2: 'applied' }, { configuration_name: 'db' });
    await make('three', { ansible_limit: 'n3,n4' });
  });

  test.each([
    ['configuration=db', ['two']],
    ['configuration=nope', []],
    ['host=n2', ['one', 'two']],
    ['host=n[1,4]', ['one', 'three']],
    ['host=n[1-9],!n2&status=complete', ['one']],
    ['host=n9', []],
    ['configuration=&host=', ['one', 'three', 'two']],
  ])('?%s finds %j', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test('is newest first, with hosts, start and end, page by page with the same filters', async () => {
    const first = await list('order=newest&limit=2&host=n[1-4]');
    expect(first.sessions).toMatchObject([
      { name: 'three', hosts: { applied: 0, failed: 0, incomplete: 0 }, ended_at: null },
      { name: 'two', hosts: { applied: 1, failed: 0, incomplete: 0 }, ended_at: expect.stringMatching(/Z$/) },
    ]);
    expect(first.sessions[0].started_at).toMatch(/Z$/);
    const given = Object.entries(first.next).filter(([, value]) => value !== null);
    const next = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    const second = await list(String(next));
    expect(second.sessions).toMatchObject([{ name: 'one', hosts: { applied: 1, failed: 1, incomplete: 0 } }]);
    expect(second.next).toBeNull();
  });

  test('counts what matches, whatever the page', async () => {
    expect(await list('count=true&limit=1')).toMatchObject({ total: 3, more: false });
    expect(await list('count=true&limit=1&status=complete')).toMatchObject({ total: 2 });
    expect((await list('limit=1')).total).toBeUndefined();
  });

  test('refuses a hostlist with a mistake', async () => {
    const answer = await api.call('GET', '/api/v1/sessions?host=n[3-1]');
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_hostlist']);
  });
});

describe('retry', () => {
  test('by names: each for itself, with what is refused and what is not there', async () => {
    await ended('f1', { n1: 'failed' });
    await ended('good', { n1: 'applied' });
    await make('waits');
    const held = await make('held');
    await setSession(api.deps.db, held, { stage: 'admitted', status: 'running', phase: 'hold', layer: 0 });
    const before = kicks;
    const answer = await post('retry', { names: ['f1', 'good', 'waits', 'held', 'none', 'f1'], reason: 'again' });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      retried: [
        { name: 'f1', session: expect.stringMatching(/^retry-[0-9a-f]{8}-f1$/) },
        { name: 'held', session: 'held' },
      ],
      refused: [
        { name: 'good', code: 'nothing_failed', message: expect.stringContaining('"all"') },
        { name: 'waits', code: 'session_not_complete', message: expect.any(String) },
      ],
      missing: ['none'],
    });
    expect(told).toEqual([[held, 'all']]);
    expect(kicks).toBe(before + 1);
    const { records } = (await api.call('GET', '/api/v1/audit?kind=session&limit=2')).body;
    expect(records.map(({ reason }: { reason: string }) => reason)).toEqual(['again', 'again']);
  });

  test('of one that succeeded needs all hosts, also by itself', async () => {
    await ended('good', { n1: 'applied' });
    expect((await api.call('POST', '/api/v1/sessions/good/retry')).body.code).toBe('nothing_failed');
    expect((await api.call('POST', '/api/v1/sessions/good/retry', { hosts: 'all' })).status).toBe(201);
    expect((await post('retry', { names: ['good'], hosts: 'all' })).body.retried).toHaveLength(1);
  });

  test('by filter: the complete ones that did not succeed and have no retry yet', async () => {
    await ended('f1', { n1: 'failed' });
    await ended('f2', { n2: 'failed' }, { configuration_name: 'db' });
    await ended('good', { n1: 'applied' });
    const retried = async (body: object) =>
      (await post('retry', body)).body.retried.map(({ name }: { name: string }) => name);
    expect(await retried({ filter: { configuration: 'db' }, hosts: 'failed' })).toEqual(['f2']);
    expect(await retried({ filter: { host: 'n[1-2]' }, hosts: 'failed' })).toEqual(['f1']);
    expect(await retried({ filter: { host: 'n[1-2]' } })).toEqual([]);
  });

  test('that comes again with its key makes no session twice', async () => {
    await ended('f1', { n1: 'failed' });
    await ended('f2', { n1: 'failed' });
    const body = { names: ['f1', 'f2'] };
    const first = await post('retry', body, { 'idempotency-key': 'k' });
    const second = await post('retry', body, { 'idempotency-key': 'k' });
    expect(second.body).toEqual(first.body);
    expect(await names('name_contains=retry-')).toHaveLength(2);
  });
});

describe('delete', () => {
  beforeEach(async () => {
    await ended('one', { n1: 'failed' });
    await ended('two', { n1: 'applied' });
    await make('three');
  });

  test('by names, whatever their state', async () => {
    const before = kicks;
    expect((await post('delete', { names: ['one', 'three', 'none'], reason: 'tidy' })).body).toEqual({
      deleted: 2,
      cancelled: 1,
      names: ['one', 'three'],
      missing: ['none'],
    });
    expect(await names()).toEqual(['two']);
    expect(kicks).toBe(before + 1);
    const { records } = (await api.call('GET', '/api/v1/audit?action=delete&kind=session&limit=2')).body;
    expect(records).toMatchObject([{ reason: 'tidy' }, { reason: 'tidy' }]);
    expect((await post('delete', { names: ['one'] })).body).toMatchObject({ deleted: 0, missing: ['one'] });
  });

  test('by filter: the complete ones unless the filter says otherwise', async () => {
    expect((await post('delete', { filter: { name_contains: 'e' } })).body.names).toEqual(['one']);
    expect((await post('delete', { filter: { name_contains: 'e', status: 'pending' } })).body.names).toEqual(['three']);
  });
});

test('cancel takes the filters too, all of them together', async () => {
  await make('one', { ansible_limit: 'n1' });
  await make('two', { ansible_limit: 'n2' });
  const answer = await post('cancel', { status: ['pending'], filter: { host: 'n2', configuration: 'web' } });
  expect(answer.body).toMatchObject({ cancelled: 1, ended: 1 });
  expect(await names('status=pending')).toEqual(['one']);
  expect((await post('cancel', { status: ['running'], filter: { status: 'pending' } })).body.cancelled).toBe(0);
});

test.each([
  ['retry', {}],
  ['retry', { names: ['a'], filter: { status: 'complete' } }],
  ['retry', { names: [] }],
  ['retry', { filter: {} }],
  ['retry', { names: Array.from({ length: 1_001 }, (_, n) => `s${n}`) }],
  ['retry', { names: ['a'], hosts: 'some' }],
  ['delete', {}],
  ['delete', { filter: {} }],
  ['delete', { filter: { host: '' } }],
  ['delete', { filter: { configuration: '' } }],
  ['cancel', { filter: { min_age: '' } }],
  ['delete', { filter: { state: 'complete' } }],
  ['delete', { names: ['a'], reason: 'x'.repeat(501) }],
  ['cancel', { filter: {} }],
])('%s %j is a bad request', async (what, body) => {
  expect((await post(what, body)).body).toMatchObject({ status: 400, code: 'bad_request' });
});

test('a filter that matches more than may be retried at once retries nothing', async () => {
  const id = await ended('many', { n1: 'failed' });
  const { db } = api.deps;
  const { queue: _, ...row } = await db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const copies = Array.from({ length: 1_000 }, (_, n) => ({
    ...row,
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    name: `many-${n}`,
    target: JSON.stringify(row.target),
    tags: JSON.stringify(row.tags),
    artifacts: JSON.stringify(row.artifacts),
    snapshot: JSON.stringify(row.snapshot),
    muster: JSON.stringify(row.muster),
  }));
  await db
    .insertInto('sessions')
    .values(copies as never)
    .execute();
  const answer = await post('retry', { filter: { name_contains: 'many' } });
  expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  expect(answer.body.detail).toContain('1000');
  expect(await names('name_contains=retry-')).toEqual([]);
});
