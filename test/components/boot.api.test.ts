import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi } from '../support/stack/token-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

describe('the boot of a component', () => {
  test('is in every answer of version 3 once it was told, and in none of version 2', async () => {
    expect((await api.call('PUT', '/v3/components/x1', {})).body).not.toHaveProperty('muster');
    const muster = { boot: '0b5e1f3c-5a35-4c39-9f0e-0f0e7d4a1c11' };
    const body = { state: [], enabled: true, muster };
    expect((await api.call('PATCH', '/v3/components/x1', body)).body).toMatchObject({ muster, state: [] });
    expect((await api.call('GET', '/v3/components/x1')).body.muster).toEqual(muster);
    const list = await api.call('GET', '/v3/components?ids=x1');
    expect(list.body.components).toMatchObject([{ id: 'x1', muster }]);
    for (const path of ['/v2/components/x1', '/v2/components?ids=x1']) {
      expect(JSON.stringify((await api.call('GET', path)).body)).not.toMatch(/muster|boot/);
    }
    const patched = await api.call('PATCH', '/v2/components', [{ id: 'x1', enabled: false }]);
    expect(JSON.stringify(patched.body)).not.toMatch(/muster|boot/);
    expect((await api.call('GET', '/v3/components/x1')).body.muster).toEqual(muster);
    expect((await api.call('PUT', '/v3/components/x1', { enabled: true })).body).not.toHaveProperty('muster');
  });

  test.each([
    ['single', 'PATCH', '/v3/components/x2', (muster: unknown) => ({ state: [], muster })],
    ['list', 'PATCH', '/v3/components', (muster: unknown) => [{ id: 'x2', state: [], muster }]],
    [
      'filter',
      'PATCH',
      '/v3/components',
      (muster: unknown) => ({ patch: { state: [], muster }, filters: { ids: 'x2' } }),
    ],
    ['PUT', 'PUT', '/v3/components/x2', (muster: unknown) => ({ muster })],
    ['list PUT', 'PUT', '/v3/components', (muster: unknown) => [{ id: 'x2', muster }]],
  ])('is taken and checked, %s', async (_, method, path, bodyOf) => {
    await api.call('PUT', '/v3/components/x2', {});
    expect((await api.call(method, path, bodyOf({ boot: 'b' }))).status).toBe(200);
    expect((await api.call('GET', '/v3/components/x2')).body.muster).toEqual({ boot: 'b' });
    for (const bad of [{}, null, 'b', [], { boot: '' }, { boot: 1 }, { boot: 'a\nb' }, { boot: 'b', x: 1 }]) {
      const { status, body } = await api.call(method, path, bodyOf(bad));
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('muster')]);
    }
    expect((await api.call('GET', '/v3/components/x2')).body.muster).toEqual({ boot: 'b' });
  });

  test.each([
    ['PATCH', '/v2/components/x3', { state: [], muster: { boot: 'b' } }],
    ['PUT', '/v2/components/x3', { muster: { boot: 'b' } }],
    ['PATCH', '/v2/components', [{ id: 'x3', muster: { boot: 'b' } }]],
    ['PATCH', '/v3/components/x3', { muster: { boot: 'b' } }],
    [
      'PATCH',
      '/v3/components',
      [
        { id: 'x3', enabled: true },
        { id: 'x3', muster: { boot: 'b' } },
      ],
    ],
    ['PATCH', '/v3/components', { patch: { muster: { boot: 'b' } }, filters: { ids: 'x3' } }],
  ])('is refused in %s %s %j', async (method, path, body) => {
    const before = await api.call('PUT', '/v3/components/x3', { enabled: false });
    const answer = await api.call(method, path, body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('muster')]);
    expect((await api.call('GET', '/v3/components/x3?state_details=true')).body).toMatchObject(before.body);
  });
});

test('a node tells of its own boot, and of nothing else that only Muster knows', async () => {
  const guarded = await createTokenApi();
  try {
    const { node, operator } = guarded.tokens;
    await guarded.as(operator, 'PUT', '/v3/components/x1', {});
    const body = { state: [], enabled: true, muster: { boot: 'b' } };
    expect((await guarded.as(node, 'PATCH', '/v3/components/x1', body)).body).toMatchObject(body);
    const more = { ...body, muster: { boot: 'c', lease: 1 } };
    const refused = await guarded.as(node, 'PATCH', '/v3/components/x1', more);
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('muster.lease')]);
    expect((await guarded.as(node, 'GET', '/v3/components/x1')).body.muster).toEqual({ boot: 'b' });
  } finally {
    await guarded.close();
  }
});
