import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import { createTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('options').execute();
});

const patch = (body: unknown) => api.call('PATCH', '/v3/options', body);

test('a fresh installation has all of them', async () => {
  expect((await api.call('GET', '/v3/options')).body).toEqual(DEFAULT_OPTIONS);
  expect((await patch({})).body).toEqual(DEFAULT_OPTIONS);
});

test.each<[object]>([
  [{ batch_size: 1, batch_window: 0, batcher_disable: true }],
  [{ hardware_sync_interval: 1, batcher_check_interval: 1, batcher_max_backoff: 0, batcher_pending_timeout: 1 }],
  [{ default_batcher_retry_policy: 0, debug_wait_time: 0, default_page_size: 1 }],
  [{ default_ansible_config: '', session_ttl: '', additional_inventory_url: '' }],
  [{ session_ttl: '90M' }],
  [{ session_ttl: '1w', logging_level: 'WARNING', include_ara_links: false }],
  [{ session_ttl: '000000007d' }],
  [
    {
      max_running_sessions: 0,
      session_timeout: 60,
      allow_overlap: false,
      allow_partial_inventory: true,
      inventory_scope: 'all',
    },
  ],
])('PATCH %j merges', async (body) => {
  await patch({ batch_size: 7 });
  const answer = await patch(body);
  expect([answer.status, answer.body]).toEqual([200, { ...DEFAULT_OPTIONS, batch_size: 7, ...body }]);
  expect((await api.call('GET', '/v3/options')).body).toEqual(answer.body);
});

test.each<[string, string]>([
  ['{"hardware_sync_interval": 0}', 'hardware_sync_interval'],
  ['{"batch_size": 10.0}', 'batch_size'],
  ['{"batch_size": true}', 'batch_size'],
  ['{"batch_size": "10"}', 'batch_size'],
  ['{"batch_size": null}', 'batch_size'],
  ['{"batch_window": -1}', 'batch_window'],
  ['{"default_batcher_retry_policy": -1}', 'default_batcher_retry_policy'],
  ['{"default_playbook": "x.yml"}', "Property is read-only - 'default_playbook'"],
  [`{"default_ansible_config": "${'x'.repeat(61)}"}`, 'default_ansible_config'],
  ['{"session_ttl": "7"}', 'session_ttl'],
  ['{"session_ttl": "7 d"}', 'session_ttl'],
  ['{"session_ttl": "7y"}', 'session_ttl'],
  ['{"session_ttl": "1234567890d"}', 'session_ttl'],
  ['{"session_ttl": "7d\\n"}', 'session_ttl'],
  ['{"additional_inventory_url": "a b"}', 'additional_inventory_url'],
  [`{"additional_inventory_url": "${'x'.repeat(241)}"}`, 'additional_inventory_url'],
  [`{"additional_inventory_source": "${'x'.repeat(61)}"}`, 'additional_inventory_source'],
  ['{"logging_level": "info"}', 'logging_level'],
  ['{"batcher_disable": "false"}', 'batcher_disable'],
  ['{"default_page_size": 0}', 'default_page_size'],
  ['{"inventory_scope": "some"}', 'inventory_scope'],
  ['{"sessionTTL": "7d"}', 'sessionTTL'],
  ['{"session_ttl": "7d", "nope": 1}', 'nope'],
  ['[]', 'An array'],
])('PATCH %s is 400 and changes nothing', async (body, named) => {
  const answer = await patch(body);
  expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  expect(answer.body.detail).toContain(named);
  expect((await api.call('GET', '/v3/options')).body).toEqual(DEFAULT_OPTIONS);
});

describe('additional inventory', () => {
  test('has one origin at most, and an existing source', async () => {
    const unknown = await patch({ additional_inventory_source: 'none' });
    expect([unknown.status, unknown.body.title]).toEqual([400, 'Source does not exist']);
    await api.call('POST', '/v3/sources', {
      name: 'src',
      clone_url: 'u',
      credentials: { username: 'u', password: 'p' },
    });
    expect((await patch({ additional_inventory_source: 'src' })).status).toBe(200);
    const both = await patch({ additional_inventory_url: 'https://x/y' });
    expect([both.status, both.body.title]).toEqual([400, 'Bad Request']);
    expect((await patch({ additional_inventory_url: 'https://x/y', additional_inventory_source: '' })).status).toBe(
      200,
    );
    expect((await patch({ additional_inventory_url: '', additional_inventory_source: 'src' })).status).toBe(200);
  });
});

test('another limit of running sessions is told to the queue', async () => {
  const before = api.pokes();
  await patch({ max_running_sessions: 50, batch_size: 3 });
  expect(api.pokes()).toBe(before);
  await patch({ max_running_sessions: 60 });
  expect(api.pokes()).toBe(before + 1);
});

test('an engine that is away does not disturb', async () => {
  const other = await createTestApi({
    engine: {
      finishDebug: async () => undefined,
      retryInPlace: async () => undefined,
      pokeQueue: () => Promise.reject(new Error('away')),
    },
  });
  expect((await other.call('PATCH', '/v3/options', { max_running_sessions: 1 })).status).toBe(200);
  await other.close();
});

test('patches of different members at once all stay', async () => {
  await Promise.all([
    patch({ batch_size: 5 }),
    patch({ batch_window: 6 }),
    patch({ session_ttl: '1d' }),
    patch({ debug_wait_time: 8 }),
  ]);
  expect((await api.call('GET', '/v3/options')).body).toMatchObject({
    batch_size: 5,
    batch_window: 6,
    session_ttl: '1d',
    debug_wait_time: 8,
  });
});

test('the page size of lists follows at once', async () => {
  await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b' }]);
  await patch({ default_page_size: 1 });
  expect((await api.call('GET', '/v3/components')).body.next.limit).toBe(1);
});
