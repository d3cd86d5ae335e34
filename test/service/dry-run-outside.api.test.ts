/** What a dry run asks of the outside: remotes that do not answer in time, and sessions that hold. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { musterError } from '../../domain/errors.ts';
import { addRun, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const URL = 'https://reader:hidden-password@git.example.test/one.git';
const commit = 'a'.repeat(40);

let api: TestApi;
let isSilent = false;
const asked: AbortSignal[] = [];
beforeAll(async () => {
  const git = {
    resolveRef: async ({ ref, signal }: { ref: string; signal: AbortSignal }) => {
      asked.push(signal);
      if (ref === 'absent') throw musterError('branch_not_found', `no branch '${ref}'`, 'branch');
      return isSilent ? new Promise<string>(() => undefined) : commit;
    },
  };
  api = await createTestApi({ git });
});
afterAll(() => api.close());

const layersOf = (...branches: string[]) =>
  branches.map((branch, index) => ({
    clone_url: 'https://git.example.test/one.git',
    playbook: `p${index}.yml`,
    branch,
  }));
const dryRun = (method: string, path: string, body?: unknown) =>
  api.call('POST', '/api/v1/dry-run', { method, path, body });

test('branches that are not resolved in time are warnings, and the stored commit stands for a known branch', async () => {
  await api.call('PUT', '/v3/configurations/web', { layers: layersOf('main') });
  isSilent = true;
  try {
    const { status, body } = await dryRun('PUT', '/v3/configurations/web', { layers: layersOf('main', 'next') });
    expect(status).toBe(200);
    expect(body.warnings.sort()).toEqual([
      'branch main of https://git.example.test/one.git was not resolved within 5 s: its commit is not known, the stored commit stands for it',
      'branch next of https://git.example.test/one.git was not resolved within 5 s: its commit is not known, zeros stand for it',
    ]);
    expect(body.answer.layers.map((layer: { commit: string }) => layer.commit)).toEqual([commit, '0'.repeat(40)]);
    expect(asked.at(-1)?.aborted).toBe(true);
  } finally {
    isSilent = false;
  }
  expect((await api.call('GET', '/v3/configurations/web')).body.layers).toHaveLength(1);
}, 30_000);

test('what a remote refuses is refused', async () => {
  const { body } = await dryRun('PUT', '/v3/configurations/web', { layers: layersOf('absent') });
  expect(body).toMatchObject({ status: 400, code: 'branch_not_resolved' });
  const secret = [{ clone_url: URL, playbook: 'site.yml', branch: 'main' }];
  const refused = await dryRun('PUT', '/v3/configurations/web', { layers: secret });
  expect(refused.body.status).toBe(400);
  expect(JSON.stringify(refused.body)).not.toContain('hidden-password');
});

test('an Idempotency-Key that is none is refused, as before every write', async () => {
  const request = { method: 'PATCH', path: '/v3/components/n1', body: { enabled: false } };
  const answer = await api.call('POST', '/api/v1/dry-run', request, { 'idempotency-key': 'x'.repeat(256) });
  expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
});

test('no answer is kept for an Idempotency-Key, which is free for the write itself', async () => {
  const key = { 'idempotency-key': 'one' };
  const request = { method: 'PUT', path: '/v3/components/n1', body: { enabled: true } };
  const ask = () => api.call('POST', '/api/v1/dry-run', request, key);
  expect((await ask()).body.changes).toMatchObject([{ action: 'create' }]);
  expect((await api.call('PUT', '/v3/components/n1', request.body, key)).status).toBe(200);
  const again = await ask();
  expect([again.body.changed, again.headers['idempotency-replayed']]).toEqual([0, undefined]);
});

test('a retry of a session that holds tells for which hosts it would go on', async () => {
  const { db } = api.database;
  await api.call('POST', '/v3/sessions', { name: 'held', configuration_name: 'web' });
  const id = await sessionId(db, 'held');
  await setSession(db, id, { stage: 'admitted', status: 'running', phase: 'hold' });
  const none = await dryRun('POST', '/api/v1/sessions/held/retry', { hosts: 'all' });
  expect(none.body.hosts).toEqual({ names: [], count: 0, unknown: 'no host has a result yet' });
  const results = [
    { host: 'n1', status: 'applied' as const },
    { host: 'n2', status: 'failed' as const },
  ];
  await addRun(db, id, { layer: 0, exitCode: 2, results });
  const hosts = async (which: string) => (await dryRun('POST', '/api/v1/sessions/held/retry', { hosts: which })).body;
  expect(await hosts('failed')).toMatchObject({
    changed: 1,
    changes: [{ kind: 'session', name: 'held', action: 'retry' }],
    hosts: { names: ['n2'], count: 1, unknown: null },
  });
  expect((await hosts('all')).hosts).toEqual({ names: ['n1', 'n2'], count: 2, unknown: null });
  const ended = await dryRun('POST', '/api/v1/sessions/held/finish-debug', {});
  expect(ended.body).toMatchObject({ status: 202, changed: 1, hosts: null });
  expect((await api.call('GET', '/api/v1/sessions/held')).body.phase).toBe('hold');
});
