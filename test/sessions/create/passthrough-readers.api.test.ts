/** What readers see of the extra variables of sessions. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../../support/stack/token-api.ts';
import { fakeSchedules } from '../../support/temporal/fake-schedules.ts';

let api: TokenApi;
const words = `-e pw=CANARY -e '{"db": {"password": "CANARY"}}' -t x`;
const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];

beforeAll(async () => {
  api = await createTokenApi({ schedules: fakeSchedules() });
  const ops = (method: string, path: string, body: unknown) => api.as(api.tokens.operator, method, path, body);
  expect((await ops('PUT', '/v3/configurations/web', { layers })).status).toBe(200);
  for (let n = 0; n < 300; n++) {
    const body = { name: `s${n}`, configuration_name: 'web', ansible_passthrough: words };
    expect((await ops('POST', '/v3/sessions', body)).status).toBe(201);
  }
  const session = { configuration_name: 'web', ansible_passthrough: words };
  const schedule = { name: 'nightly', cron: '0 3 * * *', action: { session } };
  expect((await ops('POST', '/api/v1/schedules', schedule)).status).toBe(201);
});
afterAll(() => api.close());

test.each([
  '/v3/sessions/s1',
  '/v2/sessions/s1',
  '/v3/sessions?limit=300',
  '/v2/sessions?name_contains=s1',
  '/api/v1/sessions/s1',
  '/api/v1/sessions',
  '/api/v1/schedules',
  '/api/v1/schedules/nightly',
])('GET %s', async (path) => {
  const asReader = await api.as(api.tokens.reader, 'GET', path);
  expect(asReader.status).toBe(200);
  expect(JSON.stringify(asReader.body)).not.toContain('CANARY');
  const asOperator = await api.as(api.tokens.operator, 'GET', path);
  expect(asOperator.status).toBe(200);
  if (path === '/api/v1/sessions') return;
  expect(JSON.stringify(asOperator.body)).toContain('CANARY');
  // All else is the same for both.
  const plain = (body: unknown) => JSON.stringify(body, (key, value) => (/passthrough$/.test(key) ? '' : value));
  expect(plain(asReader.body)).toBe(plain(asOperator.body));
});
