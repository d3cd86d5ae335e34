/** What a context that is read only sends: what changes nothing, by the committed list of routes. */
import { expect, test } from '@jest/globals';
import type { ApiRequest } from '../../cli/client/api-client.ts';
import { isQuestion, refusedByContext } from '../../cli/read-only.ts';
import { committedRoutes } from '../support/route-lines.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies ApiRequest['method'][];
const routes = committedRoutes()
  .filter(({ method, least }) => methods.includes(method) && least !== 'public')
  .map(({ method, path, least }) => ({ method: method as ApiRequest['method'], path, least }));

test('just what a reader may send is a question', () => {
  const wrong = routes.filter((route) => isQuestion(route) !== (route.least === 'reader' || route.method === 'GET'));
  expect(wrong).toEqual([]);
  expect(routes.filter((route) => route.method !== 'GET' && isQuestion(route)).length).toBeGreaterThan(5);
});

test.each([
  ['https://muster.test', true, 'context_read_only'],
  ['https://muster.test:443', true, 'context_read_only'],
  ['https://other.test', true, undefined],
  ['https://muster.test', false, undefined],
])('a write to %s of a context that is read only: %s', (url, read_only, code) => {
  const profile = { name: 'prod', url: 'https://muster.test', read_only };
  expect(refusedByContext(profile, url, { method: 'POST', path: '/api/v1/go' })?.code).toBe(code);
  expect(refusedByContext(profile, url, { method: 'GET', path: '/api/v1/go' })).toBeUndefined();
});
