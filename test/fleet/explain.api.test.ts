/** Why a component stands as it does, over HTTP. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await api.call('PUT', '/v3/configurations/A', { layers });
});
afterAll(() => api.close());

const explain = async (id: string) => (await api.call('GET', `/api/v1/components/${id}/explain`)).body;
/** What does not hold. */
const missing = async (id: string) =>
  (await explain(id)).conditions
    .filter(({ holds }: { holds: boolean }) => !holds)
    .map(({ text }: { text: string }) => text);

test('a component says what it waits for, as the records are now', async () => {
  await api.call('PUT', '/v3/components/n1', { desired_config: 'gone', enabled: false });
  expect(await missing('n1')).toEqual(expect.arrayContaining(['there is a configuration gone', 'it is enabled']));
  await api.call('PATCH', '/v3/components/n1', { desired_config: 'A' });
  expect(await explain('n1')).toMatchObject({
    state: 'pending',
    next: { event: 'it is enabled', at: null },
    command: './muster component enable n1',
  });
  await api.call('PATCH', '/v3/components/n1', { enabled: true });
  expect(await missing('n1')).toContain('it is in a batch');
});

test('a component that is not there is told', async () => {
  expect((await api.call('GET', '/api/v1/components/none/explain')).status).toBe(404);
});
