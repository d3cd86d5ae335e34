import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, endSession, sessionId } from '../session-fixtures.ts';

let api: TestApi;
/** Names with tags, start times one hour apart and the end that each has. */
const SESSIONS = [
  { name: 'a-1', tags: { team: 'red', zone: 'x=y' } },
  { name: 'a-10', tags: { team: 'blue' } },
  { name: 'a.1', tags: { team: 'red' } },
  { name: 'b', tags: {} },
  { name: 'c', tags: { team: '' } },
];
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web');
  for (const [index, session] of SESSIONS.entries()) {
    api.now.value = new Date(Date.UTC(2026, 10, 21, index));
    const answer = await api.call('POST', '/v3/sessions', { ...session, configuration_name: 'web' });
    expect(answer.status).toBe(201);
  }
  await endSession(api.deps.db, await sessionId(api.deps.db, 'b'), 'true');
  await endSession(api.deps.db, await sessionId(api.deps.db, 'c'), 'unknown');
  await api.call('PATCH', '/v3/sessions/a-10', { status: { session: { status: 'running' } } });
  api.now.value = new Date(Date.UTC(2026, 10, 21, 4));
});
afterAll(() => api.close());

const list = async (query: string, path = '/v3/sessions') => {
  const answer = await api.call('GET', `${path}?${query}`);
  expect(answer.status).toBe(200);
  return answer.body as { sessions: { name: string }[]; next: Record<string, unknown> | null };
};
const names = async (query: string) => (await list(query)).sessions.map(({ name }) => name);

describe('filters', () => {
  test.each<[string, string[]]>([
    ['', ['a-1', 'a-10', 'a.1', 'b', 'c']],
    ['status=pending', ['a-1', 'a.1']],
    ['status=running', ['a-10']],
    ['status=complete', ['b', 'c']],
    ['succeeded=none', ['a-1', 'a-10', 'a.1']],
    ['succeeded=true', ['b']],
    ['succeeded=unknown&status=complete', ['c']],
    ['name_contains=a', ['a-1', 'a-10', 'a.1']],
    ['name_contains=-1', ['a-1', 'a-10']],
    ['name_contains=%25', []],
    ['name_contains=_', []],
    ['name_contains=%5C', []],
    ['name_contains=a%25', []],
    ['name_contains=.', ['a.1']],
    ['name_contains=A', []],
    ['name_contains=a-10', ['a-10']],
    ['name_contains=%27%3B--', []],
    ['tags=team=red', ['a-1', 'a.1']],
    ['tags=team=', ['c']],
    ['tags=team=red,team=blue', []],
    ['tags=nope=x', []],
    ['min_age=0m', ['a-1', 'a-10', 'a.1', 'b', 'c']],
    ['min_age=2h', ['a-1', 'a-10', 'a.1']],
    ['min_age=121m', ['a-1', 'a-10']],
    ['max_age=2H', ['a.1', 'b', 'c']],
    ['min_age=1h&max_age=3h', ['a-10', 'a.1', 'b']],
    ['age=3h', ['a-1', 'a-10']],
    ['age=1h&min_age=3h', ['a-1', 'a-10']],
    ['min_age=999999999w', []],
    ['max_age=999999999w', ['a-1', 'a-10', 'a.1', 'b', 'c']],
    ['status=&succeeded=&tags=&min_age=&max_age=&after_id=&name_contains=&age=', ['a-1', 'a-10', 'a.1', 'b', 'c']],
    ['status=pending&tags=team=red&min_age=4h', ['a-1']],
  ])('%j finds %j', async (query, expected) => expect(await names(query)).toEqual(expected));

  test('tags take as many pairs as a request line holds', async () => {
    expect(await names(`tags=${'team=red,'.repeat(20_000)}team=red`)).toEqual(['a-1', 'a.1']);
    const many = Array.from({ length: 20_000 }, (_, index) => `k${index}=1`);
    expect(await names(`tags=${many.join(',')}`)).toEqual([]);
  });

  test.each([
    'status=done',
    'succeeded=yes',
    'min_age=1',
    'min_age=1s',
    'min_age=-1d',
    'max_age=12345678901d',
    'max_age=d',
    'limit=0',
    'limit=x',
    'limit=',
  ])('%j is a bad request', async (query) => {
    for (const method of query.startsWith('limit') ? ['GET'] : ['GET', 'DELETE']) {
      const answer = await api.call(method, `/v3/sessions?${query}`);
      expect(answer.body).toMatchObject({ status: 400, title: 'Bad Request' });
    }
  });
  test.each(['a', 'a=b=c', 'a=b,', ',', '=,x'])('the tags %j cannot be read', async (tags) => {
    const answer = await api.call('GET', `/v3/sessions?tags=${tags}`);
    expect(answer.body).toMatchObject({ status: 400, title: 'Error parsing the tags provided.' });
  });
});

describe('pages', () => {
  test('next has every parameter with its value, and leads through all', async () => {
    const first = await list('limit=2&status=&min_age=');
    expect(first.next).toEqual({
      age: null,
      min_age: '',
      max_age: null,
      status: '',
      name_contains: null,
      succeeded: null,
      tags: null,
      limit: 2,
      after_id: 'a-10',
    });
    const found = first.sessions.map(({ name }) => name);
    for (let next = first.next; next !== null; ) {
      const query = new URLSearchParams(
        Object.entries(next).flatMap(([key, value]) =>
          value === null ? [] : [[key, String(value)] as [string, string]],
        ),
      );
      const page = await list(query.toString());
      found.push(...page.sessions.map(({ name }) => name));
      next = page.next;
    }
    expect(found).toEqual(['a-1', 'a-10', 'a.1', 'b', 'c']);
  });

  test('a page is full of matches, and next is there exactly when more match', async () => {
    expect(await list('status=complete&limit=1')).toMatchObject({ sessions: [{ name: 'b' }], next: { after_id: 'b' } });
    expect((await list('status=complete&limit=2')).next).toBeNull();
    expect((await list('status=pending&limit=2')).next).toBeNull();
  });

  test('a page may begin after a name that nobody has', async () => {
    expect(await names('after_id=a-5')).toEqual(['a.1', 'b', 'c']);
    expect(await names('after_id=zzz')).toEqual([]);
  });

  test('default_page_size is the limit where none is given', async () => {
    await api.call('PATCH', '/v3/options', { default_page_size: 3 });
    expect((await list('')).next).toMatchObject({ limit: 3, after_id: 'a.1' });
    await api.call('PATCH', '/v3/options', { default_page_size: 1000 });
    expect((await list('limit=99999999999999999999')).sessions).toHaveLength(5);
  });
});

describe('the list of Muster', () => {
  test('has the engine side of each session', async () => {
    const { sessions } = await list('name_contains=a.1', '/api/v1/sessions');
    expect(sessions[0]).toMatchObject({ name: 'a.1', phase: 'queued', attempt: 1, layer: null, reason: null });
  });

  test('newest first, page by page', async () => {
    const first = await list('order=newest&limit=2', '/api/v1/sessions');
    expect(first.sessions.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(first.next).toMatchObject({ order: 'newest', limit: 2 });
    const second = await list(`order=newest&limit=5&after_id=${first.next?.after_id}`, '/api/v1/sessions');
    expect(second.sessions.map(({ name }) => name)).toEqual(['a.1', 'a-10', 'a-1']);
    expect(second.next).toBeNull();
  });

  test.each(['order=oldest', 'order=newest&after_id=x', 'order=newest&after_id=-1'])(
    '%j is a bad request',
    async (query) => expect((await api.call('GET', `/api/v1/sessions?${query}`)).status).toBe(400),
  );
});

test('more sessions than one read takes come in one list, sorted', async () => {
  const { db } = api.deps;
  const template = await db.selectFrom('sessions').selectAll().where('name', '=', 'b').executeTakeFirstOrThrow();
  const { queue, ...row } = template;
  expect(queue).toBeGreaterThan(0);
  const copies = Array.from({ length: 1_201 }, (_, index) => ({
    ...row,
    id: crypto.randomUUID(),
    name: `many-${index}`,
    target: JSON.stringify(row.target),
    tags: JSON.stringify({ many: 'yes' }),
    artifacts: JSON.stringify(row.artifacts),
    snapshot: JSON.stringify(row.snapshot),
    muster: null,
  }));
  await db.insertInto('sessions').values(copies).execute();
  const page = await list('tags=many=yes&limit=1200');
  const found = page.sessions.map(({ name }) => name);
  expect(found).toEqual([...copies.map(({ name }) => name)].sort().slice(0, 1_200));
  expect(page.next).toMatchObject({ limit: 1_200, after_id: found.at(-1) });
  const deleted = await api.call('DELETE', '/v3/sessions?tags=many=yes');
  expect(deleted.body.session_ids).toEqual([...copies.map(({ name }) => name)].sort());
});
