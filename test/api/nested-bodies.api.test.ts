import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({});
});
afterAll(() => api.close());

/** Bodies with a place for any JSON. */
const BODIES: [string, string, (json: string) => string][] = [
  ['PUT', '/v3/components', (json) => json],
  ['PUT', '/v3/components/x', (json) => `{"tags":{"a":${json}}}`],
  ['PATCH', '/v2/components', (json) => `[{"id":"x","state":${json}}]`],
  ['PATCH', '/v3/options', (json) => `{"other":${json}}`],
  ['POST', '/api/v1/import/components', (json) => `{"records":[{"id":"x","state":${json}}]}`],
  ['POST', '/api/v1/import/components', (json) => `{"records":[{"id":"x","tags":{"a":${json}}}]}`],
  ['POST', '/api/v1/import/components', (json) => `{"records":[{"id":"x","muster":${json}}]}`],
  ['POST', '/api/v1/import/components', (json) => `{"records":[${json}]}`],
  ['POST', '/api/v1/import/sources', (json) => `{"records":[{"name":"x","credentials":${json}}]}`],
  ['POST', '/api/v1/import/configurations', (json) => `{"records":[{"name":"x","layers":${json}}]}`],
  ['POST', '/api/v1/import/options', (json) => `{"records":[{"name":"x","value":${json}}]}`],
  ['POST', '/v3/sessions', (json) => `{"name":"x","configuration_name":"x","target":${json}}`],
];

const BRACKETS = [
  ['[', ']'],
  ['{"a":', '}'],
] as const;

const nested = (levels: number, leaf: string): string[] =>
  BRACKETS.map(([open, close]) => open.repeat(levels) + leaf + close.repeat(levels));

describe.each([2_000, 100_000])('JSON of %i levels', (levels) => {
  test.each(BODIES)('to %s %s is answered or refused, whatever is in the middle', async (method, path, bodyOf) => {
    for (const leaf of ['1', '1.0', '"x"', '"\\u0000"']) {
      for (const json of nested(levels, leaf)) {
        for (const headers of [
          undefined,
          { 'idempotency-key': `k-${leaf.length}-${json[0] === '[' ? 'list' : 'object'}` },
        ]) {
          const { status, body } = await api.call(method, path, bodyOf(json), headers);
          expect(status).toBeLessThan(500);
          expect(JSON.stringify(body).length).toBeLessThan(2_000);
        }
      }
    }
  });
});

test.each(nested(100_000, '1.0'))(
  'a number with a fraction below very many levels: the levels are named',
  async (json) => {
    const { status, body } = await api.call('PUT', '/v3/components/x', `{"tags":{"a":${json}}}`);
    expect([status, body.code, body.detail]).toEqual([
      400,
      'body_not_json',
      'The JSON of the request body has too many levels',
    ]);
  },
);

test.each(nested(100_000, '"\\u0000"'))('a path of very many levels is told by its beginning', async (json) => {
  const { status, body } = await api.call('PUT', '/v3/components/x', `{"tags":{"a":${json}}}`);
  expect([status, body.code]).toEqual([400, 'bad_request']);
  expect(body.detail).toMatch(/cannot be stored - 'tags[.]a[.].*[.]{3}'$/);
  expect(body.detail.length).toBeLessThan(600);
});
