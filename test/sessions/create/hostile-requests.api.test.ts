import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, addResults, endSession, sessionId } from '../session-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web');
  for (const name of ['live', 'done']) await api.call('POST', '/v3/sessions', { name, configuration_name: 'web' });
  const id = await sessionId(api.deps.db, 'done');
  await addResults(api.deps.db, { id, layer: 0 }, [{ host: 'a', task: 't', result: 'failed' }]);
  await endSession(api.deps.db, id, 'false');
});
afterAll(() => api.close());

const word = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    '-1',
    '99999999999999999999',
    '1e309',
    '../../..',
    "'",
    '%',
  ),
  fc.constantFrom(
    'live',
    'done',
    'web',
    'complete',
    'true',
    '1m',
    'a=b',
    '@/etc/passwd',
    '$(id)',
    '-e a',
    '"',
    '{{ 1 }}',
  ),
);
const json = fc.oneof(
  { weight: 3, arbitrary: word },
  fc.anything({ key: word, values: [word, fc.double(), fc.boolean(), fc.constant(null)], maxDepth: 3 }),
);
const body = (...members: string[]) =>
  fc.record(Object.fromEntries(members.map((member) => [member, json])), { requiredKeys: [] });
const created = body(
  'name',
  'configuration_name',
  'configuration_limit',
  'ansible_limit',
  'ansible_config',
  'ansible_verbosity',
  'ansible_passthrough',
  'target',
  'tags',
  'debug_on_failure',
);
/** Bodies that come far: only one member is odd. */
const nearlyRight = fc.tuple(created, fc.stringMatching(/^[a-z0-9]{8}$/)).map(([odd, name]) => {
  const [key, value] = Object.entries(odd)[0] ?? ['name', name];
  return { name, configuration_name: 'web', [key]: value };
});
const patched = fc.record({
  status: fc.oneof(
    json,
    fc.record(
      {
        session: fc.oneof(json, body('status', 'succeeded', 'job', 'ims_job', 'start_time', 'completion_time')),
        artifacts: fc.oneof(json, fc.array(fc.oneof(json, body('image_id', 'type')))),
      },
      { requiredKeys: [] },
    ),
  ),
});
const PARAMETERS = [
  'status',
  'succeeded',
  'name_contains',
  'tags',
  'age',
  'min_age',
  'max_age',
  'limit',
  'after_id',
  'order',
  'after',
  'tail',
  'layer',
  'attempt',
  'host',
  'type',
  'result',
];
const query = fc
  .array(fc.tuple(fc.constantFrom(...PARAMETERS), word), { maxLength: 4 })
  .map((pairs) =>
    new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, value.toWellFormed()])).toString(),
  );
const name = fc.oneof(fc.constantFrom('live', 'done'), word).map((text) => encodeURIComponent(text.toWellFormed()));
const reads = fc.constantFrom('', '/events', '/logs', '/hosts', '/progress');
const accept = fc.oneof(
  fc.constantFrom('*/*', 'text/plain', 'application/json', ',;q=', 'text/plain;q=x'),
  fc.string(),
);
const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '?');

const request = fc.oneof(
  fc.oneof(created, nearlyRight, json).map((data) => ({ method: 'POST', url: '/v3/sessions', data })),
  fc.tuple(name, fc.oneof(patched, json)).map(([at, data]) => ({ method: 'PATCH', url: `/v3/sessions/${at}`, data })),
  query.map((text) => ({ method: 'GET', url: `/v3/sessions?${text}` })),
  query.map((text) => ({ method: 'GET', url: `/api/v1/sessions?${text}` })),
  query.map((text) => ({ method: 'DELETE', url: `/v3/sessions?name_contains=zzz&${text}&name_contains=zzz` })),
  name.map((at) => ({ method: 'GET', url: `/v3/sessions/${at}` })),
  fc.tuple(name, reads, query, accept).map(([at, what, text, type]) => ({
    method: 'GET',
    url: `/api/v1/sessions/${at}${what}?${text}`,
    headers: { accept: printable(type).replace('text/event-stream', '') },
  })),
  fc
    .tuple(name, fc.constantFrom('cancel', 'retry', 'finish-debug'), fc.oneof(json, body('reason', 'hosts', 'name')))
    .map(([at, what, data]) => ({ method: 'POST', url: `/api/v1/sessions/${at}/${what}`, data })),
);

test('no request gets a 5xx for being wrong, and every refusal is a problem document', async () => {
  await fc.assert(
    fc.asyncProperty(
      request,
      async ({
        method,
        url,
        data,
        headers,
      }: {
        method: string;
        url: string;
        data?: unknown;
        headers?: Record<string, string>;
      }) => {
        const answer = await api.call(
          method,
          url,
          data === undefined ? undefined : (JSON.stringify(data) ?? '?'),
          headers,
        );
        expect(answer.status).toBeLessThan(500);
        if (answer.status >= 400 && method !== 'HEAD') {
          expect(answer.headers['content-type']).toBe('application/problem+json');
          // A host list that cannot be read also tells each place of it.
          const { errors = [], position = 0, ...problem } = answer.body;
          for (const error of errors)
            expect(error).toEqual({ code: 'bad_hostlist', message: expect.any(String), position: expect.any(Number) });
          expect(position).toBeGreaterThanOrEqual(0);
          expect(problem).toEqual({
            type: 'about:blank',
            title: expect.any(String),
            status: answer.status,
            detail: expect.any(String),
            code: expect.any(String),
          });
        }
      },
    ),
    { numRuns: 700 },
  );
});

test('what was made by any of them can be read back', async () => {
  await fc.assert(
    fc.asyncProperty(nearlyRight, async (data) => {
      const answer = await api.call('POST', '/v3/sessions', data);
      if (answer.status !== 201) return;
      const read = await api.call('GET', `/v3/sessions/${answer.body.name}`);
      expect(read.body).toEqual(answer.body);
      const detail = await api.call('GET', `/api/v1/sessions/${answer.body.name}`);
      expect(detail.status).toBe(200);
      expect((await api.call('POST', `/api/v1/sessions/${answer.body.name}/cancel`)).status).toBe(202);
    }),
    { numRuns: 150 },
  );
  expect((await api.call('GET', '/v3/sessions?limit=100000')).status).toBe(200);
});

test.each(['name', 'tags', 'target', 'ansible_limit', 'nobody_knows'])(
  '%s nested without end is a bad request',
  async (member) => {
    for (const deep of [
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
    ]) {
      const answer = await api.call(
        'POST',
        '/v3/sessions',
        `{"name":"deep","configuration_name":"web","${member}":${deep}}`,
      );
      expect(answer.status).toBe(member === 'target' && deep.startsWith('{') ? 201 : 400);
      const patch = await api.call('PATCH', '/v3/sessions/live', `{"status":{"artifacts":[{"${member}":${deep}}]}}`);
      expect(patch.status).toBe(400);
    }
  },
);
