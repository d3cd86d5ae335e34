import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const A = 'a'.repeat(40);
const many = (count: number) => Array.from({ length: count }, (_, index) => `c${String(index).padStart(6, '0')}`);

test('eight writers that append to one component lose nothing', async () => {
  await api.call('PUT', '/v3/components/x', {});
  const write = async (writer: number) => {
    for (let step = 0; step < 25; step++) {
      const state_append = { clone_url: `u${writer}`, playbook: `p${step}`, commit: A };
      const answer = await api.call('PATCH', '/v3/components/x', {
        state_append,
        tags: { [`${writer}-${step}`]: '1' },
      });
      expect(answer.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  const { body } = await api.call('GET', '/v3/components/x?state_details=true');
  expect(body.state).toHaveLength(200);
  expect(Object.keys(body.tags)).toHaveLength(200);
});

test('bulk writers of the same components in opposite orders neither lose updates nor wait in a circle', async () => {
  const ids = many(300);
  await api.call(
    'PUT',
    '/v3/components',
    ids.map((id) => ({ id })),
  );
  const list = (writer: number, order: string[]) =>
    api.call(
      'PATCH',
      '/v3/components',
      order.map((id) => ({ id, tags: { [`w${writer}`]: '1' } })),
    );
  const writers = Array.from({ length: 8 }, (_, writer) => {
    if (writer % 4 === 3) {
      return api.call('PATCH', '/v3/components', {
        patch: { tags: { [`w${writer}`]: '1' } },
        filters: { ids: ids.join(',') },
      });
    }
    return list(writer, writer % 2 === 0 ? ids : ids.toReversed());
  });
  expect((await Promise.all(writers)).map((answer) => answer.status)).toEqual(Array(8).fill(200));
  const puts = [ids, ids.toReversed()].map((order) =>
    api.call(
      'PUT',
      '/v3/components',
      order.map((id) => ({ id: `${id}p` })),
    ),
  );
  expect((await Promise.all(puts)).map((answer) => answer.status)).toEqual([200, 200]);
  const { body } = await api.call('GET', `/v3/components?limit=1000&ids=${ids.join(',')}`);
  expect(body.components).toHaveLength(300);
  for (const component of body.components) expect(Object.keys(component.tags)).toHaveLength(8);
});

test('ten thousand components: bulk PUT, both forms of PATCH, a list larger than a batch, pages while records go', async () => {
  await api.database.db.deleteFrom('components').execute();
  const ids = many(10_000);
  const put = await api.call(
    'PUT',
    '/v3/components',
    ids.map((id) => ({ id, enabled: true })),
  );
  expect(put.body.component_ids).toEqual(ids);
  const patch = await api.call(
    'PATCH',
    '/v3/components',
    ids.map((id) => ({ id, tags: { a: '1' } })),
  );
  expect(patch.body.component_ids).toEqual(ids);
  const filtered = await api.call('PATCH', '/v3/components', {
    patch: { tags: { b: '1' } },
    filters: { status: 'unconfigured' },
  });
  expect(filtered.body.component_ids).toEqual(ids);

  const whole = await api.call('GET', '/v3/components?limit=9999&tags=a=1,b=1');
  expect(whole.headers['content-type']).toBe('application/json');
  expect(whole.body.components.map((one: { id: string }) => one.id)).toEqual(ids.slice(0, 9_999));
  expect(whole.body.next).toMatchObject({ limit: 9_999, after_id: ids[9_998] });
  expect((await api.call('GET', '/v3/components?limit=10000&status=unconfigured')).body.next).toBeNull();
  expect((await api.call('GET', '/v3/components?limit=4000')).body.components).toHaveLength(4_000);

  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await api.call('GET', `/v3/components?limit=700&after_id=${after}`);
    seen.push(...body.components.map((one: { id: string }) => one.id));
    if (body.next === null) break;
    after = body.next.after_id;
    await api.call('DELETE', `/v3/components/${after}`);
  }
  expect(seen).toEqual(ids);
});
