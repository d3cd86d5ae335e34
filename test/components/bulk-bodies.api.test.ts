import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const COUNT = 100_000;
/** Between two of the others' questions, ms: they are there all the time, and leave the work to the large request. */
const PAUSE_MS = 20;

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.close());

/** Entries as a site has them: two layers of state, a few tags. */
const entries = Array.from({ length: COUNT }, (_, index) => ({
  id: `x${1000 + Math.floor(index / 256)}c${index % 8}s${index % 32}b0n${index}`,
  desired_config: `compute-${index % 7}`,
  enabled: true,
  tags: { rack: `r${index % 100}`, role: 'compute' },
  state: ['site.yml', 'network.yml'].map((playbook) => ({
    clone_url: 'https://git.example.test/fleet/site.git',
    playbook,
    commit: 'a'.repeat(40),
    status: 'applied',
    session_name: `batcher-${index % 400}`,
  })),
}));

/** Sends a large body, and asks for one component again and again meanwhile; answers how often that was answered. */
async function whileOthersAsk(method: string, body: unknown) {
  let done = false;
  const sent = api.call(method, '/v3/components', body).finally(() => {
    done = true;
  });
  let answered = 0;
  while (!done) {
    const other = await api.call('GET', '/v3/components/other');
    expect(other).toMatchObject({ status: 200, body: { id: 'other' } });
    answered += 1;
    await delay(PAUSE_MS);
  }
  return { answer: await sent, answered };
}

test('100,000 typical entries are put and patched in one request each, and others are answered meanwhile', async () => {
  await api.call('PUT', '/v3/components/other', {});
  const put = await whileOthersAsk('PUT', entries);
  expect(put.answer.status).toBe(200);
  expect(put.answer.body.component_ids).toEqual(entries.map(({ id }) => id));
  expect(put.answered).toBeGreaterThan(10);
  const patch = await whileOthersAsk(
    'PATCH',
    entries.map(({ id }) => ({ id, enabled: false, tags: { role: '' } })),
  );
  expect(patch.answer.status).toBe(200);
  expect(patch.answer.body.component_ids).toHaveLength(COUNT);
  expect(patch.answered).toBeGreaterThan(10);
  const last = await api.call('GET', `/v3/components/${entries.at(-1)?.id}?state_details=true`);
  expect(last.body).toMatchObject({ enabled: false, tags: { rack: 'r99' }, error_count: 0 });
  expect(last.body.state).toHaveLength(2);
}, 600_000);

test('a body above the limit is 413 and stores nothing', async () => {
  const padding = 'p'.repeat(64 * 2 ** 20);
  const answer = await api.call('PUT', '/v3/components', [{ id: 'too-large', tags: { padding } }]);
  expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
  expect((await api.call('GET', '/v3/components/too-large')).status).toBe(404);
});
