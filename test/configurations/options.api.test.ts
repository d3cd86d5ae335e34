import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('options').execute();
});

const patch = (body: unknown) => api.call('PATCH', '/api/v1/options', body);

test('a fresh installation has all of them', async () => {
  expect((await api.call('GET', '/api/v1/options')).body).toEqual(DEFAULT_OPTIONS);
  expect((await patch({})).body).toEqual(DEFAULT_OPTIONS);
});

test.each<[object]>([
  [{ batch_size: 1, batch_window: 0, batcher_disable: true }],
  [{ hardware_sync_interval: 1, batcher_check_interval: 1, batcher_max_backoff: 0, batcher_pending_timeout: 1 }],
  [{ default_batcher_retry_policy: 0, debug_wait_time: 0, default_page_size: 1 }],
  [{ default_ansible_config: 'other-cfg', session_ttl: '', additional_inventory_url: '' }],
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
  expect((await api.call('GET', '/api/v1/options')).body).toEqual(answer.body);
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
  expect((await api.call('GET', '/api/v1/options')).body).toEqual(DEFAULT_OPTIONS);
});

/** Whole numbers by their least value, and yes or no (cfs-api 5, and Muster's own). */
const NUMBERS: [string, number][] = [
  ['hardware_sync_interval', 1],
  ['batcher_check_interval', 1],
  ['batch_size', 1],
  ['batch_window', 0],
  ['default_batcher_retry_policy', 0],
  ['batcher_max_backoff', 0],
  ['batcher_pending_timeout', 1],
  ['default_page_size', 1],
  ['debug_wait_time', 0],
  ['max_running_sessions', 0],
  ['session_timeout', 0],
];
const FLAGS = ['batcher_disable', 'include_ara_links', 'allow_overlap', 'allow_partial_inventory'];
const TEXTS: [string, string[], string[]][] = [
  ['default_ansible_config', ['x'.repeat(60), 'a-1.b'], ['', 'a b', 'A', '\u{1F511}', 'x'.repeat(61)]],
  [
    'session_ttl',
    ['', '0m', '7d', '30M', '1H', '2w', '123456789W'],
    ['7', 'd', '7s', ' 7d', '7d ', '-1d', '1d2h', '7.5d', '1234567890d', '\u0667d'],
  ],
  [
    'additional_inventory_url',
    ['', 'https://h/x', `https://h/${'x'.repeat(230)}`, 'git@h:x', 'ssh://git@h/x', 'git://h/x', 'file:///x', '/srv/x'],
    [
      ...['a b', 'a;b', 'a\tb', 'a\nb', '\u00a0', `https://h/${'x'.repeat(231)}`],
      ...[
        'x',
        'inventory.git',
        'h/x',
        '-x',
        'ext::sh',
        'ftp://h/x',
        'https://',
        'https:///x',
        'ssh://h',
        'git@h:',
        'file://h/x',
        '{{ url }}',
      ],
    ],
  ],
  ['additional_inventory_source', [''], ['x'.repeat(61)]],
  ['logging_level', ['DEBUG', 'INFO', 'WARNING', 'ERROR'], ['', 'info', 'WARN', 'CRITICAL', 'DEBUG ']],
  ['inventory_scope', ['limit', 'all'], ['', 'Limit', 'none']],
];

describe('each option by itself', () => {
  test('all of them are in these tables', () => {
    const named = [...NUMBERS.map(([name]) => name), ...FLAGS, ...TEXTS.map(([name]) => name), 'default_playbook'];
    expect(named.sort()).toEqual(Object.keys(DEFAULT_OPTIONS).sort());
  });

  const refused = async (name: string, values: string[]) => {
    for (const value of values) {
      const answer = await patch(`{"${name}": ${value}}`);
      expect([value, answer.status, answer.body.title]).toEqual([value, 400, 'Bad Request']);
      expect(answer.body.detail).toContain(name);
    }
    expect((await api.call('GET', '/api/v1/options')).body).toEqual(DEFAULT_OPTIONS);
  };
  const taken = async (name: string, values: unknown[]) => {
    for (const value of values) {
      const answer = await patch({ [name]: value });
      expect([value, answer.status, answer.body[name]]).toEqual([value, 200, value]);
    }
  };

  test.each(NUMBERS)('%s is a whole number from %i', async (name, least) => {
    await refused(name, [`${least - 1}`, '-5', '10.0', '1e1', '1.5', 'true', '"10"', '""', 'null', '[]', '[1]', '{}']);
    await taken(name, [least, least + 1, 2 ** 31, 2 ** 53 - 1]);
  });
  test.each(FLAGS)('%s is yes or no', async (name) => {
    await refused(name, ['0', '1', '"true"', '""', 'null', '[]', '{}']);
    await taken(name, [true, false]);
  });
  test.each(TEXTS)('%s is a text', async (name, good, bad) => {
    await refused(name, ['1', 'true', 'null', '[]', '{}', ...bad.map((value) => JSON.stringify(value))]);
    await taken(name, good);
  });
  test('default_playbook is read-only in version 3, whatever is sent', () =>
    refused('default_playbook', ['"site.yml"', '""', 'null', '1', '{}']));
});

describe('an option that names what is not there', () => {
  const WARNING = '299 muster "option default_ansible_config names ConfigMap absent-cfg, ';
  test.each([
    ['/api/v1/options', { default_ansible_config: 'absent-cfg' }],
    ['/v3/options', { default_ansible_config: 'absent-cfg' }],
    ['/v2/options', { defaultAnsibleConfig: 'absent-cfg' }],
  ])('PATCH %s stores an absent ConfigMap with a warning', async (path, body) => {
    const answer = await api.call('PATCH', path, body);
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining(body)]);
    expect(String(answer.headers.warning)).toContain(WARNING);
    expect((await api.call('PATCH', path, {})).headers.warning).toBeUndefined();
  });
  test('a ConfigMap that is there is no warning, and a refused change warns of nothing', async () => {
    expect((await patch({ default_ansible_config: 'there-cfg' })).headers.warning).toBeUndefined();
    const refused = await patch({ default_ansible_config: 'absent-cfg', batch_size: 0 });
    expect([refused.status, refused.headers.warning]).toEqual([400, undefined]);
  });
  test.each(['?dry_run=true', ''])('an import (%j) says it of its record', async (query) => {
    const records = [
      { name: 'default_ansible_config', value: 'absent-cfg' },
      { name: 'additional_inventory_url', value: 'inventory.git' },
    ];
    const { body } = await api.call('POST', `/api/v1/import/options${query}`, { records });
    expect(body.results.map(({ detail }: { detail: string }) => detail)).toEqual([
      expect.stringContaining('sessions fail until it is there'),
      expect.stringContaining('Give an address such as'),
    ]);
  });
  test.each([
    ['/api/v1/options', 'additional_inventory_url'],
    ['/v3/options', 'additional_inventory_url'],
    ['/v2/options', 'additionalInventoryUrl'],
  ])('PATCH %s refuses what is no address by name and with what would be', async (path, field) => {
    const answer = await api.call('PATCH', path, { [field]: 'inventory.git' });
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
    expect(answer.body.detail).toContain(`'${field}'`);
    expect(answer.body.detail).toContain('https://git.example.com/inventory.git');
  });
});

test('who changed them is stored', async () => {
  await patch({ batch_size: 3 });
  const { actor } = await api.database.db.selectFrom('options').select('actor').executeTakeFirstOrThrow();
  expect(actor).toBeNull();
  const acting = await createTestApi({ access: { mode: 'none', actorHeader: 'x-user' } });
  await acting.call('PATCH', '/api/v1/options', { batch_size: 3 }, { 'x-user': 'ada' });
  expect(await acting.database.db.selectFrom('options').select('actor').execute()).toEqual([{ actor: 'ada' }]);
  const body = { layers: [{ clone_url: 'u', playbook: 'p', branch: 'm' }] };
  acting.refs.set('u m', 'a'.repeat(40));
  await acting.call('PUT', '/v3/configurations/c', body, { 'x-user': 'ada' });
  const actorOf = async () =>
    (await acting.database.db.selectFrom('configurations').select('actor').execute())[0]?.actor;
  expect(await actorOf()).toBe('ada');
  await acting.call('PATCH', '/v3/configurations/c', undefined, { 'x-user': 'bob' });
  expect(await actorOf()).toBe('bob');
  await acting.call('PUT', '/v3/configurations/c', body, { 'x-user': 'eve' });
  expect(await actorOf()).toBe('eve');
  await acting.call('PUT', '/api/v1/secrets/s/k', { value: 'v' }, { 'x-user': 'eve' });
  expect(await acting.database.db.selectFrom('secrets').select('actor').execute()).toEqual([{ actor: 'eve' }]);
  await acting.close();
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
    expect(both.body.detail).toContain("'additional_inventory_url'");
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
  expect((await other.call('PATCH', '/api/v1/options', { max_running_sessions: 1 })).status).toBe(200);
  await other.close();
});

test('patches of different members at once all stay', async () => {
  await Promise.all([
    patch({ batch_size: 5 }),
    patch({ batch_window: 6 }),
    patch({ session_ttl: '1d' }),
    patch({ debug_wait_time: 8 }),
  ]);
  expect((await api.call('GET', '/api/v1/options')).body).toMatchObject({
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
