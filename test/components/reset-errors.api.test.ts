import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi } from '../support/stack/token-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await put('A', 'a');
});
afterAll(() => api.close());

const PATH = '/api/v1/components/reset-errors';
const URL = 'https://git.example.test/one.git';
const put = (name: string, digit: string) =>
  api.call('PUT', `/v3/configurations/${name}`, {
    layers: [{ clone_url: URL, playbook: 'site.yml', commit: digit.repeat(40) }],
  });
const get = async (id: string) => (await api.call('GET', `/v3/components/${id}?state_details=true`)).body;

/** A component that has used up its tries of the commit. */
async function usedUp(id: string): Promise<void> {
  const layer = { clone_url: URL, playbook: 'site.yml', commit: 'a'.repeat(40), status: 'failed', session_name: 's' };
  const body = { desired_config: 'A', enabled: true, error_count: 3, state: [layer] };
  expect((await api.call('PUT', `/v3/components/${id}`, body)).status).toBe(200);
  expect(await get(id)).toMatchObject({ configuration_status: 'failed', error_count: 3 });
}

describe('a component whose tries are used up', () => {
  test('is not forgiven by a new commit, and is by its desired configuration, also the same one', async () => {
    await usedUp('c1');
    await put('A', 'b');
    expect(await get('c1')).toMatchObject({ configuration_status: 'failed', error_count: 3 });
    await api.call('PATCH', '/v3/components/c1', { desired_config: 'A' });
    expect(await get('c1')).toMatchObject({ configuration_status: 'pending', error_count: 0 });
    await put('A', 'a');
  });

  test('is tried again when its errors are reset; what it reached stays', async () => {
    await usedUp('c2');
    await usedUp('c3');
    await usedUp('c4');
    const { batcher } = (await api.call('GET', '/api/v1/batches')).body;
    expect(batcher.failed_components).toBe(3);
    const answer = await api.call('POST', PATH, { ids: ['c3', 'c2', 'c3'] });
    expect([answer.status, answer.body]).toEqual([200, { component_ids: ['c3', 'c2'] }]);
    for (const id of ['c2', 'c3']) {
      expect(await get(id)).toMatchObject({
        configuration_status: 'pending',
        error_count: 0,
        enabled: true,
        state: [{ status: 'failed' }],
      });
    }
    expect(await get('c4')).toMatchObject({ configuration_status: 'failed', error_count: 3 });
    expect((await api.call('GET', '/api/v1/batches')).body.batcher.failed_components).toBe(1);
  });
});

test('one that does not exist changes none of them', async () => {
  await usedUp('c5');
  const answer = await api.call('POST', PATH, { ids: ['c5', 'nobody'] });
  expect([answer.status, answer.body.code]).toEqual([404, 'component_not_found']);
  expect(await get('c5')).toMatchObject({ error_count: 3 });
});

test.each([{}, { ids: [] }, { ids: [''] }, { ids: 'c5' }, { ids: [7] }, { ids: ['c5'], all: true }])(
  'the body %j is refused',
  async (body) => {
    expect((await api.call('POST', PATH, body)).status).toBe(400);
  },
);

test('needs the role operator, and is on record', async () => {
  const guarded = await createTokenApi();
  try {
    const { reader, operator } = guarded.tokens;
    await guarded.as(operator, 'PUT', '/v3/components/x1', { error_count: 3 });
    expect((await guarded.as(reader, 'POST', PATH, { ids: ['x1'] })).status).toBe(403);
    expect((await guarded.as(operator, 'POST', PATH, { ids: ['x1'] })).status).toBe(200);
    const audit = await guarded.as(operator, 'GET', '/api/v1/audit?kind=component&name=x1');
    expect(JSON.stringify(audit.body)).toContain('error_count');
  } finally {
    await guarded.close();
  }
});
