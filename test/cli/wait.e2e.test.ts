/** `session wait` and `component wait`, by the command line against the real API. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addConfiguration, endSession, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const layer = { clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) };

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await addConfiguration(api.deps.db, 'web');
  expect((await api.call('PUT', '/v3/configurations/site', { layers: [layer] })).status).toBe(200);
});
afterAll(() => api.close());

const run = (...args: string[]) => cli(args, { url });

describe('session wait', () => {
  beforeEach(async () => {
    await api.call('DELETE', '/v3/sessions?status=');
    expect((await api.call('POST', '/v3/sessions', { name: 's', configuration_name: 'web' })).status).toBe(201);
  });

  test.each([
    ['true', 0, 'session s succeeded: ended true\n'],
    ['false', 1, 'session s failed: ended false\n'],
  ] as const)('of one that ends %s exits %i', async (succeeded, exit, err) => {
    const command = startCli(['session', 'wait', 's', '--timeout', '60'], { url });
    await endSession(api.deps.db, await sessionId(api.deps.db, 's'), succeeded);
    expect([await command.ended, command.err()]).toEqual([exit, err]);
  });

  test('--for running ends when it runs', async () => {
    const command = startCli(['session', 'wait', 's', '--for', 'running', '--timeout', '60'], { url });
    await setSession(api.deps.db, await sessionId(api.deps.db, 's'), { stage: 'admitted', status: 'running' });
    expect([await command.ended, command.err()]).toEqual([0, 'session s runs\n']);
  });

  test('says what it waited for when the time is over', async () => {
    const { exit, err } = await run('session', 'wait', 's', '--timeout', '1');
    expect([exit, err]).toEqual([6, expect.stringMatching(/session s is not complete after 1 s: /)]);
  });

  test('of one that is not there, and Ctrl-C', async () => {
    expect((await run('session', 'wait', 'none')).exit).toBe(3);
    expect((await run('session', 'wait', 's', '--for', 'ever')).exit).toBe(2);
    const command = startCli(['session', 'wait', 's'], { url });
    setTimeout(() => command.interrupt(), 300);
    expect(await command.ended).toBe(130);
  });
});

describe('component wait', () => {
  const put = (id: string, more: object) => api.call('PUT', `/v3/components/${id}`, more);
  const reached = (status: string) => ({ ...layer, status, session_name: 's' });
  beforeEach(async () => {
    for (const id of ['n1', 'n2']) {
      await put(id, { desired_config: 'site', enabled: true, error_count: 0, state: [reached('applied')] });
    }
    await put('n3', { desired_config: 'site', enabled: true, error_count: 0, state: [] });
  });

  test('ends when all are configured', async () => {
    expect(await run('component', 'wait', 'n[1-2]')).toMatchObject({ exit: 0, err: '2 of 2 components configured\n' });
    const command = startCli(['component', 'wait', 'n[1-3]', '--for', 'configured', '--timeout', '60'], { url });
    await command.says('2 of 3 components configured');
    await api.call('PATCH', '/v3/components/n3', { state: [reached('applied')] });
    expect(await command.ended).toBe(0);
    expect(command.err()).toBe('2 of 3 components configured\n3 of 3 components configured\n');
  });

  test('names what failed, what is not there, and what is pending when the time is over', async () => {
    const late = await run('component', 'wait', 'n[1-3]', '--timeout', '1');
    expect([late.exit, late.err]).toEqual([6, expect.stringContaining('1 component pending after 1 s: n3')]);
    const gone = await run('component', 'wait', 'n[1-2],n8');
    expect([gone.exit, gone.err]).toEqual([3, expect.stringContaining('there is no component n8')]);
    await put('n3', {
      desired_config: 'site',
      enabled: true,
      error_count: 9,
      retry_policy: 1,
      state: [reached('failed')],
    });
    const failed = await run('component', 'wait', 'n[1-3]');
    expect([failed.exit, failed.err]).toEqual([1, expect.stringContaining('1 component failed: n3')]);
    expect(failed.err).toContain('./muster component reset-errors');
    await put('n3', { desired_config: '' });
    expect((await run('component', 'wait', 'n3')).err).toContain('without a desired configuration: n3');
    expect((await run('component', 'wait', '!n1')).exit).toBe(2);
    expect((await run('component', 'wait', 'n[')).exit).toBe(2);
  });
});
