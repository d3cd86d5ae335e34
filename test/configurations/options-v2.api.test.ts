import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('options').execute();
});

const DEFAULTS = {
  hardwareSyncInterval: 10,
  batcherCheckInterval: 10,
  batchSize: 25,
  batchWindow: 60,
  defaultBatcherRetryPolicy: 3,
  defaultPlaybook: 'site.yml',
  defaultAnsibleConfig: 'cfs-default-ansible-cfg',
  sessionTTL: '7d',
  additionalInventoryUrl: '',
  batcherMaxBackoff: 3600,
  batcherDisable: false,
  batcherPendingTimeout: 300,
  loggingLevel: 'INFO',
};

test('GET shows the options that v2 knows, in its names', async () => {
  expect((await api.call('GET', '/v2/options')).body).toEqual(DEFAULTS);
  expect((await api.call('GET', '/apis/cfs/v2/options')).body).toEqual(DEFAULTS);
});

test.each<[string, unknown, string]>([
  ['hardwareSyncInterval', 11, 'hardware_sync_interval'],
  ['batcherCheckInterval', 12, 'batcher_check_interval'],
  ['batchSize', 13, 'batch_size'],
  ['batchWindow', 0, 'batch_window'],
  ['defaultBatcherRetryPolicy', 0, 'default_batcher_retry_policy'],
  ['defaultPlaybook', 'other.yml', 'default_playbook'],
  ['defaultAnsibleConfig', 'other-cfg', 'default_ansible_config'],
  ['sessionTTL', '30D', 'session_ttl'],
  ['additionalInventoryUrl', 'https://git.example.test/i.git', 'additional_inventory_url'],
  ['batcherMaxBackoff', 0, 'batcher_max_backoff'],
  ['batcherDisable', true, 'batcher_disable'],
  ['batcherPendingTimeout', 1, 'batcher_pending_timeout'],
  ['loggingLevel', 'ERROR', 'logging_level'],
])('%s = %j is v3 %s, both ways', async (v2, value, v3) => {
  const patch = await api.call('PATCH', '/v2/options', { [v2]: value });
  expect([patch.status, patch.body]).toEqual([200, { ...DEFAULTS, [v2]: value }]);
  expect((await api.call('GET', '/v3/options')).body[v3]).toEqual(value);
  await api.database.db.deleteFrom('options').execute();
  if (v3 === 'default_playbook') return;
  await api.call('PATCH', '/v3/options', { [v3]: value });
  expect((await api.call('GET', '/v2/options')).body).toEqual({ ...DEFAULTS, [v2]: value });
});

test.each<[object, string]>([
  [{ sessionTtl: '7d' }, 'sessionTtl'],
  [{ session_ttl: '7d' }, 'session_ttl'],
  [{ sessionTTL: '7 days' }, "'sessionTTL'"],
  [{ sessionTTL: '123456789012d' }, "'sessionTTL'"],
  [{ batch_size: 1 }, 'batch_size'],
  [{ batchSize: 0 }, "'batchSize'"],
  [{ batchSize: true }, "'batchSize'"],
  [{ batchSize: '1' }, "'batchSize'"],
  [{ batchSize: null }, "'batchSize'"],
  [{ defaultPlaybook: 'a b' }, "'defaultPlaybook'"],
  [{ defaultAnsibleConfig: 'x'.repeat(61) }, "'defaultAnsibleConfig'"],
  [{ additionalInventoryUrl: 'x'.repeat(241) }, "'additionalInventoryUrl'"],
  [{ additionalInventorySource: '' }, 'additionalInventorySource'],
  [{ defaultPageSize: 5 }, 'defaultPageSize'],
  [{ debugWaitTime: 5 }, 'debugWaitTime'],
  [{ includeAraLinks: true }, 'includeAraLinks'],
  [{ maxRunningSessions: 5 }, 'maxRunningSessions'],
  [{ loggingLevel: 'info' }, "'loggingLevel'"],
])('PATCH %j is 400 and changes nothing', async (body, named) => {
  const answer = await api.call('PATCH', '/v2/options', body);
  expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  expect(answer.body.detail).toContain(named);
  expect((await api.call('GET', '/v2/options')).body).toEqual(DEFAULTS);
});

test('numbers are JSON integers', async () => {
  expect((await api.call('PATCH', '/v2/options', '{"batchSize": 10.0}')).status).toBe(400);
  expect((await api.call('PATCH', '/v2/options', {})).body).toEqual(DEFAULTS);
});

test('a URL for the inventory is refused beside the source that v3 has set', async () => {
  await api.call('POST', '/v3/sources', { name: 's', clone_url: 'u', credentials: { username: 'u', password: 'p' } });
  await api.call('PATCH', '/v3/options', { additional_inventory_source: 's' });
  const answer = await api.call('PATCH', '/v2/options', { additionalInventoryUrl: 'https://x' });
  expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  expect(answer.body.detail).toContain("'additionalInventoryUrl'");
  expect((await api.call('GET', '/v2/options')).body).toEqual(DEFAULTS);
});

test('v3 cannot change the default playbook, and a layer without playbook follows it', async () => {
  expect((await api.call('PATCH', '/v3/options', { default_playbook: 'x.yml' })).status).toBe(400);
  const commit = 'a'.repeat(40);
  await api.call('PUT', '/v2/configurations/c', { layers: [{ cloneUrl: 'u', commit }] });
  const state = [{ cloneUrl: 'u', playbook: 'two.yml', commit, sessionName: 's' }];
  await api.call('PUT', '/v2/components/x', { desiredConfig: 'c', state });
  const status = async () => (await api.call('GET', '/v2/components/x')).body.configurationStatus;
  expect(await status()).toBe('pending');
  await api.call('PATCH', '/v2/options', { defaultPlaybook: 'two.yml' });
  expect(await status()).toBe('configured');
  expect((await api.call('GET', '/v2/components?status=configured')).body).toHaveLength(1);
});
