/** `--dry-run` of the command line on the real API. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await api.call('PUT', '/v3/configurations/web', { layers });
  await api.call('PUT', '/v3/components', [
    { id: 'n1', enabled: false, desired_config: 'web' },
    { id: 'n2', enabled: false, desired_config: 'web' },
  ]);
});
afterAll(() => api.close());

const run = (...args: string[]) => cli(args, { url });

test('shows what would change, with the components that become another status, and changes nothing', async () => {
  const { exit, out, err } = await run('component', 'set', 'n[1-2]', '--config', '', '--dry-run');
  expect([exit, err]).toEqual([0, 'dry run: nothing was changed\n']);
  expect(out).toContain('2 records would be changed\n  update component n1 ');
  expect(out).toContain('2 components pending -> unconfigured: n1, n2\n');
  expect((await api.call('GET', '/v3/components/n1')).body.desired_config).toBe('web');
});

test('the flag takes no word that follows it, and --dry-run=request sends nothing', async () => {
  expect((await run('component', 'enable', '--dry-run', 'n1')).out).toContain('1 record would be changed\n');
  const { exit, out } = await run('component', 'enable', '--dry-run=request', 'n1');
  expect([exit, out]).toEqual([0, expect.stringMatching(/^POST http.*\/api\/v1\/components\/actions\n\{/)]);
});

test('tells for which hosts a session would run, whose limit is a hostlist', async () => {
  const limited = (limit: string) =>
    run('session', 'run', 's1', '--configuration', 'web', '--limit', limit, '--dry-run');
  expect((await limited('n[1-3],!n2')).out).toContain('hosts: n1, n3\n');
  expect((await limited('n2,n1')).out).toContain('hosts: n2, n1\n');
  expect((await limited('n*')).out).toContain('hosts: the inventory is made when the session begins\n');
  const bad = await limited('n[1');
  expect([bad.exit, bad.err]).toEqual([2, expect.stringContaining('bad_hostlist')]);
  const none = await limited('@role=none');
  expect([none.exit, none.err]).toEqual([2, expect.stringContaining('--limit @role=none names no host')]);
  expect((await api.call('GET', '/v3/sessions')).body.sessions).toEqual([]);
});

test('is refused as the write is, and in lanes without a dry run by name', async () => {
  const refused = await run('configuration', 'delete', 'web', '--dry-run');
  expect([refused.exit, refused.err]).toEqual([5, expect.stringContaining('configuration_in_use')]);
  const other = await run('stop', '--all', '--reason', 'x', '--dry-run');
  expect([other.exit, other.err]).toEqual([2, expect.stringContaining('rehearsal_unsupported')]);
});

test('a server without dry run gets nothing else', async () => {
  const old = await startFakeApi();
  try {
    const { exit, err } = await cli(['component', 'enable', 'n1', '--dry-run'], { url: old.url });
    expect([exit, err]).toEqual([2, expect.stringContaining('this server has no dry run; nothing was sent')]);
    expect(old.seen.map(({ url: path }) => path)).toEqual(['/api/v1/dry-run']);
  } finally {
    await old.close();
  }
});
