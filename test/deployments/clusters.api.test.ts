import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openClusterSeal, placeOf } from '../../control/deployments/cluster-seal.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';

const V2 = '/v2/cluster-providers';
let api: TokenApi;
let count = 0;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const admin = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.admin, method, url, body, headers);

/** Makes a provider; returns the path of its clusters. */
async function provider(name = `lab-${++count}`): Promise<{ name: string; clusters: string }> {
  expect((await admin('POST', V2, named(name))).status).toBe(201);
  return { name, clusters: `${V2}/${name}/clusters` };
}

async function cluster(name = 'north') {
  const made = await provider();
  expect((await admin('POST', made.clusters, formOf(named(name), kubeconfigOf()), FORM_HEADERS)).status).toBe(201);
  return { ...made, path: `${made.clusters}/${name}`, short: `/api/v1/clusters/${made.name}%2B${name}` };
}

describe('a cluster provider', () => {
  test('is made, read, listed and removed', async () => {
    const metadata = { name: `made-${++count}`, description: 'd', userData1: 'u', userData2: '', unknown: 1 };
    const made = await admin('POST', V2, { metadata, more: true });
    const stored = { metadata: { name: metadata.name, description: 'd', userData1: 'u', userData2: '' } };
    expect([made.status, made.body]).toEqual([201, stored]);
    expect((await admin('GET', `${V2}/${metadata.name}`)).body).toEqual(stored);
    expect((await admin('GET', V2)).body).toContainEqual(stored);
    expect((await admin('DELETE', `${V2}/${metadata.name}`)).status).toBe(204);
    expect((await admin('GET', `${V2}/${metadata.name}`)).body).toMatchObject({ status: 404, code: 'not_found' });
  });

  test.each<[string, number, string, unknown, Record<string, string>?]>([
    ['no body', 400, 'bad_request', undefined],
    ['no name', 400, 'bad_request', { metadata: {} }],
    ['an empty name', 400, 'bad_request', { metadata: { name: '' } }],
    ['a name with a slash', 400, 'bad_request', named('a/b')],
    ['a name that is too long', 400, 'bad_request', named('a'.repeat(129))],
    ['a description that is too long', 400, 'bad_request', { metadata: { name: 'a', description: 'd'.repeat(1025) } }],
    ['what is no JSON', 422, 'body_not_json', '{"metadata"'],
    ['another type', 415, 'unsupported_media_type', 'x', { 'content-type': 'text/plain' }],
  ])('is refused with %s', async (_title, status, code, body, headers = {}) => {
    const refused = await admin('POST', V2, body, headers);
    expect(refused.body).toMatchObject({ status, code, type: 'about:blank' });
    expect(refused.status).toBe(status);
  });

  test('is made once, and stays while it has clusters', async () => {
    const { name, clusters } = await provider();
    expect((await admin('POST', V2, named(name))).body).toMatchObject({ status: 409, code: 'already_exists' });
    await admin('POST', clusters, formOf(named('north'), kubeconfigOf()), FORM_HEADERS);
    expect((await admin('DELETE', `${V2}/${name}`)).body).toMatchObject({ status: 409, code: 'has_children' });
  });

  test('is answered again under the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': `key-${++count}` };
    const body = named(`again-${count}`);
    expect((await admin('POST', V2, body, key)).status).toBe(201);
    expect((await admin('POST', V2, body, key)).status).toBe(201);
  });
});

describe('a cluster', () => {
  test('is registered although it is away, whatever the order of the parts', async () => {
    const { name, clusters } = await provider();
    const form = formOf(named('north'), kubeconfigOf(), { reversed: true });
    const made = await admin('POST', clusters, form, FORM_HEADERS);
    expect([made.status, made.body.metadata.name]).toEqual([201, 'north']);
    expect((await admin('GET', clusters)).body).toEqual([made.body]);
    const shown = await admin('GET', `/api/v1/clusters/${name}%2Bnorth`);
    expect(shown.body).toMatchObject({
      provider: name,
      name: 'north',
      server: 'https://127.0.0.1:1',
      connectivity: 'Unreachable',
      last_seen: null,
      version: null,
      credential_ends: null,
      credential_revision: 1,
      labels: [],
      updated_by: 'token/root',
    });
  });

  test('with the longest names is read, is the end of a page, and is removed', async () => {
    const { clusters, name } = await provider('p'.repeat(128));
    const longest = 'c'.repeat(128);
    await admin('POST', clusters, formOf(named(longest), kubeconfigOf()), FORM_HEADERS);
    await admin('POST', clusters, formOf(named('d'), kubeconfigOf()), FORM_HEADERS);
    const short = `${name}%2B${longest}`;
    expect((await admin('GET', `/api/v1/clusters/${short}`)).body).toMatchObject({ provider: name, name: longest });
    const page = (await admin('GET', `/api/v1/clusters?limit=1&after_id=${short}`)).body;
    expect(page.clusters).toMatchObject([{ provider: name, name: 'd' }]);
    expect((await admin('DELETE', `${clusters}/${longest}`)).status).toBe(204);
    expect((await admin('GET', `/api/v1/clusters/${short}`)).body).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('has its kubeconfig sealed in its own place, and nothing of it anywhere else', async () => {
    const { name, short } = await cluster();
    const rows = await api.database.db.selectFrom('member_clusters').selectAll().where('provider', '=', name).execute();
    const sealed = rows[0]?.kubeconfig as Buffer;
    expect(sealed.toString('latin1')).not.toContain('hunter2');
    const seal = openClusterSeal(api.database.db, api.deps.secrets);
    const place = placeOf({ provider: name, cluster: 'north' });
    expect((await seal.open(sealed, place)).toString()).toBe(kubeconfigOf());
    await expect(seal.open(sealed, placeOf({ provider: name, cluster: 'south' }))).rejects.toMatchObject({
      code: 'secret_unreadable',
    });
    const audit = await api.database.db.selectFrom('audit').selectAll().execute();
    expect(JSON.stringify([audit, (await admin('GET', short)).body, api.logged])).not.toContain('hunter2');
  });

  test.each<[string, number, string, string, Record<string, string>?]>([
    [
      'a command',
      400,
      'invalid_kubeconfig',
      formOf(named('n'), kubeconfigOf({ more: { exec: { command: 'touch' } } })),
    ],
    ['a file', 400, 'invalid_kubeconfig', formOf(named('n'), kubeconfigOf({ more: { tokenFile: '/etc/passwd' } }))],
    ['what is no kubeconfig', 400, 'invalid_kubeconfig', formOf(named('n'), 'a: [')],
    ['aliases', 400, 'invalid_kubeconfig', formOf(named('n'), 'a: &a [1]\nb: *a\n')],
    ['tags of its own', 400, 'invalid_kubeconfig', formOf(named('n'), 'a: !exec x\n')],
    ['too much', 400, 'invalid_kubeconfig', formOf(named('n'), `# ${'x'.repeat(262_144)}`)],
    [
      'a link-local address',
      400,
      'cluster_address_not_allowed',
      formOf(named('n'), kubeconfigOf({ server: 'https://169.254.169.254' })),
    ],
    [
      'the same in version 6',
      400,
      'cluster_address_not_allowed',
      formOf(named('n'), kubeconfigOf({ server: 'https://[::ffff:169.254.169.254]' })),
    ],
    [
      'no address',
      400,
      'cluster_address_not_allowed',
      formOf(named('n'), kubeconfigOf({ server: 'https://0.0.0.0:6443' })),
    ],
    ['no name', 400, 'bad_request', formOf({ metadata: {} }, kubeconfigOf())],
    ['metadata that is no JSON', 422, 'body_not_json', formOf('{', kubeconfigOf())],
    ['a broken form', 422, 'invalid_form', 'nothing of a form', FORM_HEADERS],
    ['JSON', 415, 'unsupported_media_type', '{}', { 'content-type': 'application/json' }],
    ['a form without boundary', 415, 'unsupported_media_type', 'x', { 'content-type': 'multipart/form-data' }],
  ])('is refused with %s', async (_title, status, code, body, headers = FORM_HEADERS) => {
    const { clusters } = await provider();
    const refused = await admin('POST', clusters, body, headers);
    expect(refused.body).toMatchObject({ status, code });
    expect(JSON.stringify(refused.body)).not.toContain('hunter2');
    expect((await admin('GET', clusters)).body).toEqual([]);
  });

  test('needs a body, a file and a provider', async () => {
    const { clusters } = await provider();
    expect((await admin('POST', clusters, undefined, FORM_HEADERS)).body).toMatchObject({
      status: 400,
      code: 'bad_request',
    });
    const noFile = formOf(named('n'), '').replace('name="file"; filename="config"', 'name="other"');
    expect((await admin('POST', clusters, noFile, FORM_HEADERS)).body).toMatchObject({
      status: 422,
      code: 'invalid_form',
    });
    const stray = await admin('POST', `${V2}/nobody/clusters`, formOf(named('n'), kubeconfigOf()), FORM_HEADERS);
    expect(stray.body).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('gives its kubeconfig to administrators alone, and the reading is on record', async () => {
    const { name, path } = await cluster();
    const bytes = { accept: 'application/octet-stream' };
    const file = await admin('GET', path, undefined, bytes);
    expect([file.status, file.body, file.headers['cache-control']]).toEqual([200, kubeconfigOf(), 'no-store']);
    const both = await admin('GET', path, undefined, { accept: 'multipart/form-data' });
    expect(both.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(both.body).toContain(kubeconfigOf());
    for (const token of [api.tokens.operator, api.tokens.reader]) {
      const refused = await api.as(token, 'GET', path, undefined, bytes);
      expect(refused.body).toMatchObject({ status: 403, code: 'forbidden' });
      expect((await api.as(token, 'GET', path, undefined, { accept: 'application/json' })).status).toBe(200);
      const records = await api.as(token, 'GET', '/api/v1/audit?kind=kubeconfig');
      expect(JSON.stringify(records.body)).not.toContain(name);
    }
    const records = await admin('GET', `/api/v1/audit?kind=kubeconfig&name=${name}%2Bnorth`);
    expect(records.body.records).toMatchObject([{ action: 'read', actor: 'token/root' }, { action: 'read' }]);
    const head = await admin('HEAD', path, undefined, bytes);
    expect([head.status, head.body]).toEqual([200, '']);
  });

  test.each<[string, number]>([
    ['*/*', 200],
    ['application/*;q=0.5', 200],
    ['text/html, application/json;q=0.1', 200],
    ['text/html', 406],
    ['application/json;q=0', 406],
  ])('with Accept %s is answered %d', async (accept, status) => {
    const { path } = await cluster();
    const answer = await admin('GET', path, undefined, { accept });
    expect(answer.status).toBe(status);
    if (status === 406) expect(answer.body).toMatchObject({ code: 'not_acceptable' });
  });

  test('takes a new credential, and the name of its path', async () => {
    const { path, short } = await cluster();
    const renewed = await admin('PUT', path, formOf(named('north'), kubeconfigOf({ token: 'hunter3' })), FORM_HEADERS);
    expect(renewed.status).toBe(200);
    expect((await admin('GET', short)).body).toMatchObject({ credential_revision: 2 });
    const other = await admin('PUT', path, formOf(named('south'), kubeconfigOf()), FORM_HEADERS);
    expect(other.body).toMatchObject({ status: 400, code: 'bad_request' });
    const made = await admin(
      'PUT',
      path.replace('north', 'south'),
      formOf(named('south'), kubeconfigOf()),
      FORM_HEADERS,
    );
    expect(made.status).toBe(201);
  });

  test('shows when its token ends', async () => {
    const { clusters, name } = await provider();
    const exp = Math.floor(Date.parse('2031-03-04T08:00:00Z') / 1000);
    const token = `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.c2ln`;
    await admin('POST', clusters, formOf(named('north'), kubeconfigOf({ token })), FORM_HEADERS);
    expect((await admin('GET', `/api/v1/clusters/${name}%2Bnorth`)).body.credential_ends).toBe(
      '2031-03-04T08:00:00.000Z',
    );
  });

  test('is removed with everything of it, but not while it has labels', async () => {
    const { path, short } = await cluster();
    await admin('POST', `${path}/labels`, { 'label-name': 'edge' });
    expect((await admin('DELETE', path)).body).toMatchObject({ status: 409, code: 'has_children' });
    expect((await admin('DELETE', `${path}/labels/edge`)).status).toBe(204);
    expect((await admin('DELETE', path)).status).toBe(204);
    expect((await admin('GET', short)).body).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('is listed in pages, and a plus that was not encoded is explained', async () => {
    const first = (await admin('GET', '/api/v1/clusters?limit=1')).body;
    expect(first.clusters).toHaveLength(1);
    const next = (await admin('GET', `/api/v1/clusters?limit=1&after_id=${encodeURIComponent(first.next.after_id)}`))
      .body;
    expect(next.clusters[0]).not.toEqual(first.clusters[0]);
    const blank = await admin('GET', '/api/v1/clusters?after_id=lab+north');
    expect(blank.body).toMatchObject({ status: 400, detail: expect.stringContaining('%2B') });
  });
});

describe('a label', () => {
  test('is set as EMCO’s client sends it, and finds its clusters with and without a slash', async () => {
    const { clusters, path, short } = await cluster();
    const made = await admin('POST', `${path}/labels`, { metadata: { name: '' }, 'label-name': 'edge' });
    expect([made.status, made.body]).toEqual([201, { 'label-name': 'edge' }]);
    expect((await admin('POST', `${path}/labels`, { 'label-name': 'edge' })).body).toMatchObject({
      code: 'already_exists',
    });
    expect((await admin('GET', `${path}/labels`)).body).toEqual([{ 'label-name': 'edge' }]);
    expect((await admin('GET', `${clusters}?label=edge`)).body).toEqual(['north']);
    expect((await admin('GET', `${clusters}/?label=edge`)).body).toEqual(['north']);
    expect((await admin('GET', `${clusters}/?label=none`)).body).toEqual([]);
    expect((await admin('GET', short)).body.labels).toEqual(['edge']);
    expect((await admin('DELETE', `${path}/labels/none`)).body).toMatchObject({ code: 'not_found' });
  });
});

test('readers read, and administrators alone write', async () => {
  const { path, clusters } = await cluster();
  for (const token of [api.tokens.reader, api.tokens.operator]) {
    expect((await api.as(token, 'GET', clusters)).status).toBe(200);
    expect((await api.as(token, 'POST', `${path}/labels`, { 'label-name': 'edge' })).status).toBe(403);
    expect((await api.as(token, 'DELETE', path)).status).toBe(403);
  }
  expect((await api.as(api.tokens.node, 'GET', clusters)).status).toBe(403);
  expect((await api.call('GET', clusters)).status).toBe(401);
  const put = await admin('PUT', V2, named('x'));
  expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
});
