/** Verbs on many components, by the command line against the real API. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(() => api.close());

const run = (args: string[], stdin = '') => cli(['component', ...args], { url, stdin });
const get = async (id: string) => (await api.call('GET', `/v3/components/${id}`)).body;

beforeEach(async () => {
  const nodes = Array.from({ length: 12 }, (_, index) => ({
    id: `n${index + 1}`,
    enabled: false,
    tags: { role: index < 3 ? 'login' : 'compute' },
  }));
  expect((await api.call('PUT', '/v3/components', nodes)).status).toBe(200);
});

test('a hostlist, members of a tag, and what is taken away', async () => {
  expect(await run(['enable', 'n[1-2]', '@role=login', '!n3', '--yes'])).toMatchObject({
    exit: 0,
    out: '',
    err: '2 components enabled\n',
  });
  expect([(await get('n1')).enabled, (await get('n2')).enabled, (await get('n3')).enabled]).toEqual([
    true,
    true,
    false,
  ]);
  expect((await run(['enable', '--tag', 'role=login', '--yes'])).err).toBe(
    '1 component enabled; 2 components as before\n',
  );
  expect((await run(['disable', '--enabled', '--yes'])).err).toBe('3 components disabled\n');
});

test('a list of a hostlist: in natural order, with what is not there; no name is no component', async () => {
  const all = await run(['list', '-o', 'name']);
  expect(all.out.split('\n').slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, index) => `n${index + 1}`));
  const some = await run(['list', 'n[9-11]', 'gone', '-o', 'name']);
  expect(some).toMatchObject({ exit: 3, out: 'n9\nn10\nn11\n' });
  expect(some.err).toContain('there is no component gone');
  expect(await run(['list', 'n[9-11]', '--limit', '2', '-o', 'name'])).toMatchObject({ exit: 0, out: 'n10\nn11\n' });
  expect(await run(['list', '!n1'])).toMatchObject({ exit: 0, out: '', err: 'no components\n' });
});

test('names on stdin, and names that no component has', async () => {
  const { exit, err } = await run(['set', '-', '--tag', 'rack=r1', '--untag', 'role', '--yes'], 'n1\nn[2-3],gone\n');
  expect([exit, err]).toEqual([
    3,
    expect.stringMatching(/^3 components changed\nerror: component_not_found: there is no component gone\n/),
  ]);
  expect((await get('n3')).tags).toEqual({ rack: 'r1' });
});

test('a script has to say that it means more than one', async () => {
  const { exit, err } = await run(['delete', 'n[1-3]']);
  expect([exit, err]).toEqual([2, expect.stringContaining('delete 3 components?')]);
  expect(err).toContain('--yes');
  expect((await get('n1')).id).toBe('n1');
  expect(await run(['delete', 'n1'])).toMatchObject({ exit: 0, err: '1 component deleted\n' });
  expect((await get('n1')).code).toBe('component_not_found');
});

test('nothing chosen is never the whole fleet', async () => {
  expect((await run(['disable', '--yes'])).exit).toBe(2);
  expect((await run(['disable', 'n1', '--all', '--yes'])).exit).toBe(2);
  expect((await run(['set', 'n1'])).exit).toBe(2);
  expect((await run(['clear', '--status', 'failed'])).err).toBe('no component matches\n');
  expect((await run(['disable', '--all', '--yes'])).exit).toBe(0);
});

test('a hostlist that is wrong says where', async () => {
  const { exit, err } = await run(['enable', 'n[3-1]']);
  expect([exit, err]).toEqual([2, expect.stringMatching(/bad_hostlist.*Character 2.*write 1-3/s)]);
});

test('a configuration that there is not is a warning', async () => {
  const { exit, err } = await run(['set', 'n1', '--config', 'nope']);
  expect([exit, err]).toEqual([0, '1 component changed\nwarning: There is no configuration nope.\n']);
});

test('the dry run shows the request', async () => {
  const { out } = await run(['disable', '--status', 'failed', '--dry-run=request']);
  expect(out).toContain('/api/v1/components/actions');
  expect(out).toContain('"status": "failed"');
});

test('the list takes a hostlist, and names what it does not know', async () => {
  const { exit, out, err } = await run(['list', 'n[1-2]', 'gone', '-o', 'name']);
  expect([exit, out]).toEqual([3, 'n1\nn2\n']);
  expect(err).toContain('there is no component gone');
});
