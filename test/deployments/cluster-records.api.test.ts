/** Records of clusters: values by their keys. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { named } from './cluster-fixtures.ts';
import { makeClusters } from './short-fixtures.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
  await makeClusters(admin, 'lab', { north: [], south: [], gone: [] });
});
afterAll(() => api.close());

const admin = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.admin, method, url, body, headers);
const urlOf = (cluster: string) => `/v2/cluster-providers/lab/clusters/${cluster}`;
const codeOf = async (method: string, url: string, body?: unknown) => {
  const answer = await admin(method, url, body);
  return [answer.status, answer.body?.code ?? null];
};
const pairs = (name: string, ...kv: unknown[]) => ({ ...named(name), spec: { kv } });

describe('kv-pairs', () => {
  const url = `${urlOf('north')}/kv-pairs`;

  test('are made, listed, read by key and removed', async () => {
    expect((await admin('GET', url)).body).toEqual([]);
    const body = pairs('site', { region: 'north' }, { zone: 'a' }, { zone: 'b' });
    const made = await admin('POST', url, { ...body, unknown: 1 });
    const whole = { metadata: { name: 'site', description: '', userData1: '', userData2: '' }, spec: body.spec };
    expect([made.status, made.body]).toEqual([201, whole]);
    await admin('POST', url, pairs('another'));
    await admin('POST', `${urlOf('south')}/kv-pairs`, pairs('other'));
    const listed = (await admin('GET', url)).body.map(({ metadata }: typeof whole) => metadata.name);
    expect(listed).toEqual(['site', 'another']);
    expect((await admin('GET', `${url}/site`)).body).toEqual(whole);
    for (const site of [`${url}/site/`, `${url}/site`]) {
      const value = await admin('GET', `${site}?key=zone`);
      expect([value.status, value.body]).toEqual([200, 'a']);
      expect(await codeOf('GET', `${site}?key=nosuch`)).toEqual([404, 'not_found']);
      expect(await codeOf('GET', `${site}?key=constructor`)).toEqual([404, 'not_found']);
    }
    expect(await codeOf('POST', url, body)).toEqual([409, 'already_exists']);
    expect(await codeOf('DELETE', `${url}/site`)).toEqual([204, null]);
    expect(await codeOf('DELETE', `${url}/site`)).toEqual([404, 'not_found']);
    expect(await codeOf('GET', `${url}/site`)).toEqual([404, 'not_found']);
  });

  test.each<[string, unknown]>([
    ['without a list', { ...named('bad'), spec: {} }],
    ['with a map of two entries', pairs('bad', { a: '1', b: '2' })],
    ['with an empty map', pairs('bad', {})],
    ['with a value that is no text', pairs('bad', { a: 1 })],
    ['with a value that is too long', pairs('bad', { a: 'x'.repeat(129) })],
    ['with too many', pairs('bad', ...Array.from({ length: 1_001 }, () => ({ a: '1' })))],
    ['with a name that is none', pairs('../bad', { a: '1' })],
    ['without a body', undefined],
  ])('%s are refused', async (_what, body) => {
    expect(await codeOf('POST', url, body)).toEqual([400, 'bad_request']);
  });

  test('of a cluster that is not there are not found', async () => {
    const stranger = `${urlOf('nosuch')}/kv-pairs`;
    expect(await codeOf('GET', stranger)).toEqual([404, 'not_found']);
    expect(await codeOf('POST', stranger, pairs('site'))).toEqual([404, 'not_found']);
    expect(await codeOf('GET', `${stranger}/site`)).toEqual([404, 'not_found']);
  });

  test('are written by administrators and keep their cluster', async () => {
    const own = `${urlOf('gone')}/kv-pairs`;
    expect((await api.as(api.tokens.operator, 'POST', own, pairs('site'))).status).toBe(403);
    expect((await admin('POST', own, pairs('site'))).status).toBe(201);
    expect((await api.as(api.tokens.reader, 'GET', own)).status).toBe(200);
    expect((await api.as(api.tokens.operator, 'DELETE', `${own}/site`)).status).toBe(403);
    expect(await codeOf('DELETE', urlOf('gone'))).toEqual([409, 'has_children']);
    await admin('DELETE', `${own}/site`);
    expect(await codeOf('DELETE', urlOf('gone'))).toEqual([204, null]);
  });

  test('cannot be put', async () => {
    expect((await admin('PUT', `${url}/site`, pairs('site'))).status).toBe(405);
  });
});
