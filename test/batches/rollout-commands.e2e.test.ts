/** `./muster rollout` against a real API, with passes of the real batcher. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runPass } from '../../control/batches/run-pass.ts';
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
const pass = async () => {
  api.now.value = new Date(api.now.value.getTime() + 61_000);
  const log = { info: () => undefined, warn: () => undefined };
  await runPass({ db: api.deps.db, clock: api.deps.clock, dispatcher: { kick: () => undefined }, log });
};

test('a policy is applied, its rollout is shown, stopped and resumed', async () => {
  const configuration = {
    name: 'compute',
    layers: [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
    muster: { rollout: { canary: 1, max_at_once: '50%' } },
  };
  const applied = await run(['configuration', 'apply', '-f', '-'], JSON.stringify(configuration));
  expect(applied.err).toContain('stored (PUT)');
  expect(JSON.parse((await run(['configuration', 'get', 'compute', '-o', 'json'])).out).muster).toEqual(
    configuration.muster,
  );
  expect((await run(['configuration', 'get', 'compute'])).out).toMatch(/^rollout +canary 1, 50% at once$/m);
  expect(await run(['rollout', 'get', 'compute'])).toMatchObject({ exit: 3, out: '' });
  const components = ['n1', 'n2', 'n3'].map((id) => ({ id, desired_config: 'compute', enabled: true }));
  expect((await api.call('PUT', '/v3/components', components)).status).toBe(200);
  await pass();
  await pass();

  const list = await run(['rollout', 'list', '-o', 'wide']);
  expect(list.out).toMatch(/CONFIGURATION +STATE/);
  expect(list.out).toMatch(/compute +canary +3 +0 +3 +0 +1 .*canary 1, 50% at once/);
  expect((await run(['rollout', 'list', '-o', 'name'])).out).toBe('compute\n');
  expect((await run(['rollout', 'list', '--state', 'stopped', '-o', 'name'])).out).toBe('');

  expect((await run(['rollout', 'stop', 'compute', '--dry-run=request'])).out).toContain(
    '/api/v1/rollouts/compute/stop',
  );
  const stopped = await run(['rollout', 'stop', 'compute', '--reason', 'power work']);
  expect(stopped).toMatchObject({ exit: 0, out: '' });
  expect(stopped.err).toContain('rollout of compute: stopped (power work); 0 of 3 configured');
  const shown = await run(['rollout', 'get', 'compute']);
  expect(shown.out).toMatch(/state +stopped in stage canary/);
  expect(shown.out).toMatch(/reason +power work/);

  expect((await run(['rollout', 'resume', 'compute'])).err).toContain('rollout of compute: canary;');
  expect(await run(['rollout', 'resume', 'compute'])).toMatchObject({ exit: 5 });
  expect(JSON.parse((await run(['rollout', 'get', 'compute', '-o', 'json'])).out)).toMatchObject({ state: 'canary' });
  expect(await run(['rollout', 'stop'])).toMatchObject({ exit: 2 });
});
