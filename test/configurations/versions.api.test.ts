/** Edits that meet others' edits: the tag of a stored configuration, and writes that demand it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const table of ['components', 'configurations'] as const) await api.database.db.deleteFrom(table).execute();
  api.refs.clear();
});

const URL = 'https://git.example.test/one.git';
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const PATH = '/v3/configurations/web';
const body = (commit: string) => ({ layers: [{ clone_url: URL, playbook: 'site.yml', commit }] });
const put = (commit: string, headers = {}) => api.call('PUT', PATH, body(commit), headers);
const read = () => api.call('GET', PATH);
const commitNow = async () => (await read()).body.layers[0].commit;
const ifMatch = (tag: unknown) => ({ 'if-match': String(tag) });

describe('the tag', () => {
  test('of a write is that of the reads after it, and each write has its own, also one that changes nothing', async () => {
    const first = await put(A);
    expect(first.headers.etag).toMatch(/^"[^"]+"$/);
    expect((await read()).headers.etag).toBe(first.headers.etag);
    const second = await put(A);
    expect(second.headers.etag).not.toBe(first.headers.etag);
    const refreshed = await api.call('PATCH', PATH);
    expect(refreshed.headers.etag).not.toBe(second.headers.etag);
    expect((await read()).headers.etag).toBe(refreshed.headers.etag);
  });

  test('of a configuration that was deleted and made again is another, though all of it is the same', async () => {
    const { etag } = (await put(A)).headers;
    expect((await api.call('DELETE', PATH)).status).toBe(204);
    const again = (await put(A)).headers.etag;
    expect(again).not.toBe(etag);
    expect((await put(B, ifMatch(etag))).status).toBe(412);
  });

  test('is no matter of version 2', async () => {
    await put(A);
    const answer = await api.call('GET', '/v2/configurations/web');
    expect(answer.headers.etag).toBeUndefined();
    expect((await api.call('PATCH', '/v2/configurations/web', undefined, ifMatch('"old"'))).status).toBe(200);
  });
});

describe('a write that demands a version', () => {
  test('goes through on that version, and its answer is good for the next', async () => {
    const { etag } = (await put(A)).headers;
    const next = await put(B, ifMatch(etag));
    expect(next.status).toBe(200);
    expect((await api.call('PATCH', PATH, undefined, ifMatch(next.headers.etag))).status).toBe(200);
    expect((await api.call('DELETE', PATH, undefined, ifMatch((await read()).headers.etag))).status).toBe(204);
  });

  test.each<[string, (headers: object) => Promise<{ status: number; body: { code?: string; detail?: string } }>]>([
    ['PUT', (headers) => api.call('PUT', PATH, body(B), { ...headers })],
    ['PATCH', (headers) => api.call('PATCH', PATH, undefined, { ...headers })],
    ['DELETE', (headers) => api.call('DELETE', PATH, undefined, { ...headers })],
  ])('%s on another version is refused with both, and changes nothing', async (_method, write) => {
    const old = (await put(A)).headers.etag;
    const now = (await put(A)).headers.etag;
    const answer = await write(ifMatch(old));
    expect([answer.status, answer.body.code]).toEqual([412, 'changed_since']);
    expect(answer.body.detail).toContain(String(old));
    expect(answer.body.detail).toContain(String(now));
    expect((await read()).headers.etag).toBe(now);
    expect(await commitNow()).toBe(A);
  });

  test('of what is not there: PUT is 412 and makes nothing, PATCH and DELETE are 404', async () => {
    expect((await put(A, ifMatch('*'))).body.code).toBe('changed_since');
    expect((await put(A, ifMatch('"1-x"'))).status).toBe(412);
    expect((await api.call('PATCH', PATH, undefined, ifMatch('*'))).body.code).toBe('configuration_not_found');
    expect((await api.call('DELETE', PATH, undefined, ifMatch('*'))).body.code).toBe('configuration_not_found');
    expect((await read()).status).toBe(404);
  });

  test('of ten at the same moment that demand that there is none one goes through', async () => {
    const absent = { 'if-none-match': '*' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(A, absent)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
    const late = await put(B, absent);
    expect([late.status, late.body.code]).toEqual([412, 'changed_since']);
    expect(late.body.detail).toContain('already');
    expect((await put(B, { 'if-none-match': String(late.headers.etag) })).status).toBe(400);
    expect((await put(B, { ...absent, ...ifMatch('*') })).status).toBe(400);
    expect(await commitNow()).toBe(A);
  });

  test('in a form that is none is 400', async () => {
    await put(A);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await api.call(method, PATH, method === 'PUT' ? body(B) : undefined, ifMatch('7'));
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
      expect(answer.body.detail).toContain('If-Match');
    }
    expect(await commitNow()).toBe(A);
  });

  test('of ten at the same moment with the same tag one goes through', async () => {
    const { etag } = (await put(A)).headers;
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(B, ifMatch(etag))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
  });

  test('a PUT whose branches are asked for meanwhile does not write over what came in between', async () => {
    const { etag } = (await put(A)).headers;
    api.refs.set(`${URL} main`, B);
    const branch = { layers: [{ clone_url: URL, playbook: 'site.yml', branch: 'main' }] };
    const [slow, quick] = await Promise.all([api.call('PUT', PATH, branch, ifMatch(etag)), put(A, ifMatch(etag))]);
    expect([slow.status, quick.status].sort()).toEqual([200, 412]);
  });
});
