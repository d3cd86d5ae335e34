/** What the command line says of rollout policies and of tries that are used up, against the real API. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insertRollout } from '../../store/batches/rollouts.ts';
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

const run = (args: string[], stdin = '') => cli(args, { url, stdin });
const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
const apply = (record: object) =>
  run(['configuration', 'apply', '-f', '-'], JSON.stringify({ name: 'web', ...record }));

test('configuration apply says when a file drops the policy, and which it was', async () => {
  const muster = { rollout: { canary: { count: 1, tags: { stage: 'first' } }, max_at_once: '10%' } };
  expect((await apply({ layers, muster })).err).not.toContain('rollout policy');
  const dropped = await apply({ layers });
  expect(dropped.exit).toBe(0);
  expect(dropped.err).toContain(
    'warning: this removes the rollout policy of web (canary 1 of stage=first, 10% at once)',
  );
  expect((await apply({ layers })).err).not.toContain('rollout policy');
});

test('rollout get names the canaries', async () => {
  await apply({ layers, muster: { rollout: { canary: { ids: ['x1', 'x2'] } } } });
  for (const id of ['x1', 'x2', 'x3']) {
    await api.call('PUT', `/v3/components/${id}`, { desired_config: 'web', enabled: id !== 'x2' });
  }
  const position = { state: 'canary', stage: 'canary', reason: 'waits: 2 canaries are needed, 1 can be' } as const;
  const rollout = { configuration: 'web', version: 'v', position, components: 2, pending: 2 };
  await insertRollout(api.deps.db, rollout, new Date());
  const { exit, out } = await run(['rollout', 'get', 'web']);
  expect(exit).toBe(0);
  expect(out).toMatch(/policy +canary all of x1, x2/);
  expect(out).toMatch(/canaries +x1\n/);
  expect(out).toMatch(/reason +waits: 2 canaries/);
});

test('component get says when tries are used up, and reset-errors makes it be tried again', async () => {
  const entry = { ...layers[0], status: 'failed', session_name: 's' };
  await api.call('PUT', '/v3/components/y1', { desired_config: 'web', error_count: 3, state: [entry] });
  expect((await run(['component', 'get', 'y1'])).out).toMatch(
    /why +used up 3 tries of commit aaaaaaaaaaaa; \.\/muster component reset-errors y1\n/,
  );
  const shown = await run(['component', 'reset-errors', 'y1', '--dry-run=request']);
  expect(shown.out).toContain('"hosts": "y1"');
  expect(await run(['component', 'reset-errors', 'y1', 'y1'])).toMatchObject({
    exit: 0,
    err: 'errors forgotten: 1 component\n',
  });
  const { out } = await run(['component', 'get', 'y1']);
  expect(out).toMatch(/status +pending/);
  expect(out).not.toContain('used up');
  expect((await run(['component', 'reset-errors', 'nobody'])).exit).toBe(3);
  expect((await run(['component', 'reset-errors'])).exit).toBe(2);
});
