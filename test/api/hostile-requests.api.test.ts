import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b', desired_config: 'c' }]);
  await api.call('PUT', '/v3/configurations/c', {
    layers: [{ clone_url: 'u', playbook: 'p', commit: 'a'.repeat(40) }],
  });
  await api.call('POST', '/v3/sources', { name: 's', clone_url: 'u', credentials: { username: 'u', password: 'p' } });
});
afterAll(() => api.close());

const TOP_MEMBERS = [
  'id',
  'state',
  'state_append',
  'desired_config',
  'error_count',
  'retry_policy',
  'enabled',
  'tags',
  'patch',
  'filters',
  'ids',
  'status',
  'config_name',
  'layers',
  'additional_inventory',
  'description',
  'tenant_name',
  'name',
  'clone_url',
  'credentials',
  'ca_cert',
  'username',
  'password',
  'secret_name',
  'authentication_method',
  'configmap_name',
  'playbook',
  'commit',
  'branch',
  'source',
  'special_parameters',
  'session_name',
  'last_updated',
  'batch_size',
  'session_ttl',
  'logging_level',
  'value',
  'max_running_sessions',
  'additional_inventory_source',
  '__proto__',
  'constructor',
  'toString',
];
const WORDS = [
  '',
  'a',
  'b',
  'c',
  's',
  'applied',
  'failed_x',
  'a_failed',
  'a=b',
  'a=b,c=d',
  'pending',
  '7d',
  'DEBUG',
  'password',
  '\0',
  '\ud800',
  '\u{1F642}',
  '%',
  '%00',
  '../..',
  "' or 1=1 --",
  '{"a":1}',
  'x'.repeat(700),
  'a'.repeat(40),
  '-1',
  '1e5',
  'null',
  'ext::sh',
];
const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 12 }));
const member = fc.oneof(fc.constantFrom(...TOP_MEMBERS), word);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      word,
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(1e21, -0, 2 ** 53, 1e308),
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(member, tie('json'), { maxKeys: 5 }),
  ),
}));
const layerArbitrary = fc.record(
  { clone_url: word, source: word, playbook: word, commit: fc.constant('a'.repeat(40)), branch: word, name: word },
  { requiredKeys: ['playbook'] },
);
/** Bodies that get further than the schema more often than random ones do. */
const nearly = fc.oneof(
  fc.record({ layers: fc.array(layerArbitrary, { maxLength: 3 }), description: word }),
  fc.record({
    patch: fc.dictionary(member, json, { maxKeys: 2 }),
    filters: fc.dictionary(member, word, { maxKeys: 3 }),
  }),
  fc.record(
    { tags: fc.dictionary(word, word), desired_config: word, error_count: fc.maxSafeInteger() },
    { requiredKeys: [] },
  ),
  fc.array(fc.record({ id: word, retry_policy: fc.maxSafeInteger(), tags: fc.dictionary(word, word) }), {
    maxLength: 4,
  }),
  fc.record({ state_append: fc.record({ clone_url: word, playbook: word, commit: word, session_name: word }) }),
  fc.record({ name: word, clone_url: word, credentials: fc.record({ username: word, password: word }) }),
  fc.record({
    clone_url: word,
    credentials: fc.record({ authentication_method: fc.constant('password'), secret_name: word }),
  }),
  fc.record({ value: word }),
  fc.dictionary(fc.constantFrom('batch_size', 'session_ttl', 'additional_inventory_url', 'default_page_size'), json),
);

const PATHS = [
  '/v3/components',
  '/v3/components/:',
  '/v3/configurations',
  '/v3/configurations/:',
  '/v3/sources',
  '/v3/sources/:',
  '/v3/options',
  '/v3/sessions',
  '/v3/sessions/:',
  '/api/v1/secrets',
  '/api/v1/secrets/:/:',
  '/api/v1/status',
  '/healthz',
  '/',
  '/apis/cfs/v3/components',
];
const segment = fc.oneof(
  fc.constantFrom(
    'a',
    'c',
    's',
    'none',
    '%00',
    '%2F',
    '%252F',
    '%2500',
    '%zz',
    '%',
    '..',
    '%ff',
    '%F0%9F%99%82',
    '.',
    ' ',
    '%ED%A0%80',
  ),
  word.map((text) => encodeURIComponent(text.toWellFormed())),
);
const path = fc
  .tuple(fc.constantFrom(...PATHS), fc.array(segment, { minLength: 2, maxLength: 2 }))
  .map(([pattern, segments]) =>
    pattern.split(':').reduce((text, part, index) => `${text}${segments[index - 1] ?? ''}${part}`),
  );
const parameter = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      'ids',
      'status',
      'enabled',
      'config_name',
      'tags',
      'limit',
      'after_id',
      'state_details',
      'config_details',
      'in_use',
    ),
    fc.constantFrom('drop_branches', 'min_age', 'max_age', 'succeeded', 'name_contains', '__proto__'),
    word.map((text) => encodeURIComponent(text.toWellFormed())),
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      'true',
      'FALSE',
      '1',
      '0',
      '-1',
      '99999999999999999999999',
      'pending',
      'a=b',
      '%00',
      '%zz',
      '999999999d',
      '%FF',
    ),
    word.map((text) => encodeURIComponent(text.toWellFormed())),
  ),
);
const query = fc
  .array(parameter, { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
const text = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(json, nearly).map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.oneof(word, fc.constantFrom('{"a":', '[1,]', '{"__proto__":{}}', '{"error_count":1.0}', '\uFEFF{}')),
  },
);
const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS');
const type = fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', 'garbage;;;');

test('no request causes a 5xx, and every refusal is a problem document', async () => {
  await fc.assert(
    fc.asyncProperty(method, path, query, text, type, async (verb, where, what, body, contentType) => {
      const sends = verb !== 'GET' && verb !== 'HEAD';
      const answer = await api.app.inject({
        method: verb,
        url: what === '' ? where : `${where}?${what}`,
        ...(sends ? { headers: { 'content-type': contentType }, payload: body } : {}),
      });
      if (answer.statusCode >= 500) throw new Error(`${answer.statusCode}: ${JSON.stringify(api.logged.slice(-2))}`);
      if (answer.statusCode >= 400 && verb !== 'HEAD') {
        expect(answer.headers['content-type']).toBe('application/problem+json');
        expect(answer.json()).toMatchObject({
          type: 'about:blank',
          status: answer.statusCode,
          title: expect.any(String),
          detail: expect.any(String),
        });
      }
      api.logged.length = 0;
    }),
    { numRuns: 1_000, interruptAfterTimeLimit: 30_000 },
  );
});
