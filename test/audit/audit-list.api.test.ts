import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../support/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const list = async (query = '', token = api.tokens.admin) =>
  (await api.as(token, 'GET', `/api/v1/audit${query}`)).body.records;

test('a change is recorded with who, what, before and after, and the request', async () => {
  const headers = { 'x-request-id': 'change-1' };
  await api.as(api.tokens.operator, 'PUT', '/v3/components/a1', { tags: { k: 'v' } });
  await api.as(api.tokens.operator, 'PATCH', '/v3/components/a1', { enabled: true, tags: { k: 'w' } }, headers);
  const [changed, made] = await list('?name=a1');
  expect(changed).toEqual({
    id: expect.stringMatching(/^\d+-\d+$/),
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: 'token/ops',
    action: 'update',
    kind: 'component',
    name: 'a1',
    before: { enabled: false, tags: { k: 'v' } },
    after: { enabled: true, tags: { k: 'w' } },
    request_id: 'change-1',
    via: 'PATCH /v3/components/:component_id',
  });
  expect(made).toMatchObject({ action: 'create', before: null, after: { enabled: false, tags: { k: 'v' } } });
});
