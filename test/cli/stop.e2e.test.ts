/** `stop --all` and `go`, reasons, and verbs on many sessions, by the command line against the real API. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { addConfiguration, addRun, endSession, sessionId } from '../sessions/session-fixtures.ts';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await addConfiguration(api.deps.db, 'web');
});
afterAll(() => api.close());

const run = (...args: string[]) => cli(args, { url, now: () => api.now.value.getTime() + 3_600_000 });
const get = async (path: string) => (await api.call('GET', path)).body;

async function failed(name: string, host: string): Promise<void> {
  expect((await api.call('POST', '/v3/sessions', { name, configuration_name: 'web' })).status).toBe(201);
  const id = await sessionId(api.deps.db, name);
  await addRun(api.deps.db, id, { layer: 0, exitCode: 2, results: [{ host, status: 'failed' }] });
  await endSession(api.deps.db, id, 'false');
}

beforeEach(async () => {
  await run('go');
  await api.call('DELETE', '/v3/sessions?status=');
  await failed('one', 'n1');
  await failed('two', 'n2');
  await api.call('POST', '/v3/sessions', { name: 'waits', configuration_name: 'web' });
});

test('stop says what it would cancel and what it stopped, status shows it, and go takes it back', async () => {
  expect((await run('stop', '--reason', 'x')).exit).toBe(2);
  expect((await run('stop', '--all')).exit).toBe(2);
  const asked = await run('stop', '--all', '--reason', 'the cooling fails');
  expect([asked.exit, asked.err]).toEqual([
    2,
    expect.stringContaining('Stop everything, and cancel 1 session and all reconciles?'),
  ]);
  expect((await get('/api/v1/stop')).stopped).toBe(false);
  const done = await run('stop', '--all', '--reason', 'the cooling fails', '--yes');
  expect([done.exit, done.err]).toEqual([0, expect.stringMatching(/^everything is stopped: 1 batcher, 1 session\n/)]);
  expect((await run('status')).out).toMatch(/^everything +is stopped since .*Z: the cooling fails; /m);
  const made = await run('session', 'run', 'mine', '--configuration', 'web', '--detach');
  expect([made.exit, made.err]).toEqual([0, expect.stringContaining('warning: everything is stopped')]);
  const over = await run('go', '--reason', 'mended');
  expect([over.exit, over.err]).toEqual([0, 'everything goes on: 1 batcher\n']);
  expect((await run('status')).out).not.toContain('is stopped since');
  expect((await run('go')).err).toBe('everything goes on: nothing was to be done\n');
});

test('a reason of any writing verb is in the audit', async () => {
  await run('option', 'set', 'batch_size=17', '--reason', 'läuft 🔥');
  const { records } = await get('/api/v1/audit?kind=options&limit=1');
  expect(records[0]).toMatchObject({ after: { batch_size: 17 }, reason: 'läuft 🔥' });
  expect((await run('audit', 'list', '--kind', 'options', '--limit', '1', '-o', 'wide')).out).toContain('läuft 🔥');
  expect((await run('option', 'set', 'batch_size=18', '--reason', 'x'.repeat(501))).exit).toBe(2);
});

test('sessions are listed newest first, with age and hosts', async () => {
  const { out } = await run('session', 'list');
  const [titles = '', ...rows] = out.trimEnd().split('\n');
  expect(titles).toMatch(/^NAME +CONFIGURATION +STATUS +SUCCEEDED +TIME +AGE +HOSTS +MESSAGE$/);
  expect(rows.map((row) => row.split(' ')[0])).toEqual(['waits', 'two', 'one']);
  expect(rows[2]).toMatch(/ 0\/1 /);
  expect((await run('session', 'list', '--host', 'n[2-9]', '-o', 'name')).out).toBe('two\n');
  expect((await run('session', 'list', '--config', 'none')).err).toBe('no sessions\n');
  expect((await run('session', 'list', '--host', 'n[')).exit).toBe(2);
});

test('columns, order and titles are as a person asks', async () => {
  const list = (...more: string[]) => run('session', 'list', ...more);
  expect((await list('--columns', 'name,hosts', '--sort', 'name', '-o', 'tsv')).out).toBe(
    'name\thosts\none\t0/1\ntwo\t0/1\nwaits\t-\n',
  );
  expect((await list('--columns', 'NAME', '--no-headers', '--sort', '-name')).out).toBe('waits\ntwo\none\n');
  const unknown = await list('--columns', 'nam');
  expect([unknown.exit, unknown.err]).toEqual([2, expect.stringContaining('columns are name, configuration, status')]);
  expect((await list('--sort', 'x')).exit).toBe(2);
  expect((await list('--columns', 'started', '--no-headers', '--limit', '1')).out).toMatch(/^\d{4}-.*Z\n$/);
  expect((await list('--columns', 'started', '--no-headers', '--limit', '1', '--time', 'relative')).out).toMatch(
    / ago\n$/,
  );
  expect((await list('--time', 'long')).exit).toBe(2);
});

test('a failed session shows its failures first, with the command that retries', async () => {
  const { out } = await run('session', 'get', 'one');
  expect(out).toMatch(/^again +\.\/muster session retry one --hosts failed$/m);
  expect(out.indexOf('\nagain ')).toBeLessThan(out.indexOf('\ntarget '));
  await run('session', 'retry', 'one', '--hosts', 'failed');
  expect((await run('session', 'get', 'one')).out).not.toMatch(/^again /m);
});

test('many are retried, cancelled and deleted by one request, with a question', async () => {
  const asked = await run('session', 'retry', '--config', 'web', '--hosts', 'failed');
  expect([asked.exit, asked.err]).toEqual([2, expect.stringContaining('Retry 2 sessions?')]);
  const retried = await run(
    'session',
    'retry',
    'one',
    'two',
    'none',
    '--hosts',
    'failed',
    '--yes',
    '--reason',
    'again',
  );
  expect([retried.exit, retried.out.trimEnd().split('\n')]).toEqual([
    3,
    [expect.stringMatching(/^retry-.*-one$/), expect.stringMatching(/^retry-.*-two$/)],
  ]);
  expect(retried.err).toContain('2 sessions run again\n');
  expect(retried.err).toContain('there is no session none');
  const refused = await run('session', 'retry', 'one', 'waits', '--yes');
  expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining('not again: waits: session_not_complete')]);
  expect((await run('session', 'retry', 'one', 'two', '--as', 'x', '--yes')).exit).toBe(2);
  expect((await run('session', 'cancel', '--status', 'pending')).exit).toBe(2);
  const cancelled = await run('session', 'cancel', '--status', 'pending', '--yes');
  expect([cancelled.exit, cancelled.err]).toEqual([0, '4 sessions cancelled; 4 of them waited and have ended\n']);
  const deleted = await run('session', 'delete', '--config', 'web', '--yes');
  expect([deleted.exit, deleted.err]).toEqual([0, expect.stringMatching(/^6 sessions deleted/)]);
  expect((await run('session', 'retry')).exit).toBe(2);
});
