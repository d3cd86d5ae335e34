import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusesUnknown } from '../../api/query.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.ready();
});
afterAll(() => api.close());

test.each([
  ['GET', '/api/v1/audit', true],
  ['POST', '/api/v1/sessions/:session_name/retry', true],
  ['DELETE', '/v3/sessions', true],
  ['DELETE', '/apis/cfs/v2/sessions', true],
  ['PATCH', '/v2/components', true],
  ['DELETE', '/apis/ims/jobs', true],
  ['PATCH', '/api/v1/options', true],
  ['PATCH', '/v3/options', false],
  ['DELETE', '/v3/sessions/:session_name', false],
  ['PATCH', '/v3/components/:component_id', false],
  ['GET', '/v3/components', false],
  ['PUT', '/v3/components', false],
  ['GET', '/healthz', false],
  ['GET', '/docs/*', false],
])('%s %s refuses them: %s', (method, url, wanted) => {
  expect(refusesUnknown(method, url)).toBe(wanted);
});

/** Every registered route of Muster's own, and every one that may change many records: a new one is strict by itself. */
const STRICT = () =>
  api.app.declaredRoutes.filter(
    ({ method, url }) =>
      url.startsWith('/api/v1/') ||
      (['DELETE', 'PATCH'].includes(method) && !url.includes(':') && !url.endsWith('/options')),
  );

test('a parameter that a route does not know is refused on all of them, before anything else of the request', async () => {
  expect(STRICT().length).toBeGreaterThan(60);
  for (const { method, url } of STRICT()) {
    const path = url.replace(/:[a-z_]+/g, 'ffffffff-0000-4000-8000-000000000000');
    for (const query of ['nonsense=1', 'Limit=1', '__proto__=1', 'limit%20=1', 'a=1&a=2']) {
      const answer = await api.call(method as 'GET', `${path}?${query}`);
      expect([method, path, query, answer.status]).toEqual([method, path, query, 400]);
      if (method === 'HEAD') continue;
      expect(answer.body.detail).toMatch(/^There is no query parameter '[^']+'( \([a-z_]+\?\))?: known are \S/);
    }
  }
});

describe('filters that are misspelt delete and change nothing', () => {
  test.each(['/v3', '/v2', '/apis/cfs/v3'])('%s', async (base) => {
    await api.call('PUT', '/v3/components/up1', { error_count: 3 });
    await api.call('PUT', '/v3/configurations/c', { layers: [] });
    await api.call('POST', '/v3/sessions', { name: 's', configuration_name: 'c' });
    for (const query of ['suceeded=false', 'status=&tag=x', 'min_agee=1d&status=pending', 'name_contians=s&status=']) {
      expect((await api.call('DELETE', `${base}/sessions?${query}`)).status).toBe(400);
    }
    const patch = base.endsWith('v2') ? { errorCount: 0 } : { error_count: 0 };
    for (const filters of [
      { idss: 'up1' },
      { ids: 'up1', tag: 'a=b' },
      { Ids: 'up1' },
      { ids: 'up1', constructor: 1 },
    ]) {
      expect((await api.call('PATCH', `${base}/components`, { patch, filters })).status).toBe(400);
    }
    expect((await api.call('PATCH', `${base}/components?ids=up1`, { patch, filters: {} })).status).toBe(400);
    expect((await api.call('GET', '/v3/sessions/s')).status).toBe(200);
    expect((await api.call('GET', '/v3/components/up1')).body.error_count).toBe(3);
  });
});
