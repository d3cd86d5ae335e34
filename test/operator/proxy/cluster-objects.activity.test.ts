/** Objects that runs make through the proxy in a real API server: marks, both kinds of apply, discovery, watches. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { eventually } from '../../support/eventually.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../../support/kubernetes/kubernetes-api.ts';
import { ENTRY, type Guest, openProxied, type Proxied, WIDGET } from './proxied.ts';

const missing = kubernetesMissing();
const withApi = missing === null ? describe : describe.skip;

const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const cms = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const REFERENCE = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: WIDGET.uid };
const ANNOTATIONS = {
  'operator-sdk/primary-resource': 'ns1/w1',
  'operator-sdk/primary-resource-type': 'Widget.demo.io',
};

let api: KubernetesApi;
let proxied: Proxied;
let guest: Guest;

const access = () => openClusterAccess(api.kubeconfig);
const post = (path: string, object: object, of = guest) => proxied.ask(of, 'POST', path, JSON.stringify(object));
const get = async (path: string) => (await proxied.ask(guest, 'GET', path)).json;
const cm = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more } });

withApi('on a real API server', () => {
  beforeAll(async () => {
    api = await startKubernetesApi();
    proxied = await openProxied(access());
    guest = proxied.admit();
    for (const name of ['ns1', 'ns2']) {
      const made = await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      expect(made.status).toBe(201);
    }
  }, 600_000);

  afterAll(async () => {
    await proxied?.close();
    await api?.stop();
  });

  beforeEach(() => {
    proxied.told.dependents = [];
    proxied.told.writes = [];
  });

  test('P1: an object in the namespace of the owner gets an owner reference; its kind is watched', async () => {
    const { status, json } = await post(cms('ns1'), cm('p1'));
    expect(status).toBe(201);
    expect(json.metadata.ownerReferences).toEqual([REFERENCE]);
    expect(await get(`${cms('ns1')}/p1`)).toEqual(json);
    const kind = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true };
    expect(proxied.told.dependents).toEqual([{ ...kind, mark: 'owner_reference' }]);
    await post(cms('ns1'), cm('p1b'));
    expect(proxied.told.dependents).toHaveLength(1);
  });

  test('P2: an object in another namespace gets annotations, which are a watch of their own', async () => {
    const { json } = await post(cms('ns2'), cm('p2', { annotations: { a: 'b' } }));
    expect(json.metadata.annotations).toEqual({ a: 'b', ...ANNOTATIONS });
    expect(json.metadata.ownerReferences).toBeUndefined();
    expect(proxied.told.dependents).toMatchObject([{ kind: 'ConfigMap', mark: 'annotations' }]);
  });

  test('P3: a cluster-scoped object gets annotations; it is watched where the entry says so', async () => {
    const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const { json } = await post('/api/v1/namespaces', namespace('ns9'));
    expect(json.metadata.annotations).toMatchObject(ANNOTATIONS);
    expect(proxied.told.dependents).toEqual([]);
    const entry = { ...ENTRY, kind: 'Gadget', watch_cluster_scoped_resources: true };
    await post('/api/v1/namespaces', namespace('ns10'), proxied.admit({ ...WIDGET, uid: 'u9' }, entry));
    expect(proxied.told.dependents).toMatchObject([{ kind: 'Namespace', namespaced: false, mark: 'annotations' }]);
  });

  test('P4: what a cluster-scoped owner makes gets an owner reference', async () => {
    const { json } = await post(cms('ns2'), cm('p4'), proxied.admit({ ...WIDGET, namespace: '', uid: 'u4' }));
    expect(json.metadata.ownerReferences).toEqual([{ ...REFERENCE, uid: 'u4' }]);
  });

  test('P6: a question is asked as it is, and is no write', async () => {
    const attributes = { resourceAttributes: { verb: 'get', resource: 'pods' } };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: attributes };
    const { status, json } = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
    expect(status).toBe(201);
    expect(json.metadata.ownerReferences).toBeUndefined();
    expect(json.status.allowed).toBe(true);
    expect(proxied.told.writes).toEqual([]);
  });

  test('P7, P8: what exists already keeps its marks; a create with a reference has ours last', async () => {
    const other = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u2' };
    const { json } = await post(cms('ns1'), cm('p8', { ownerReferences: [other] }));
    expect(json.metadata.ownerReferences).toEqual([other, REFERENCE]);
    await proxied.ask(guest, 'PATCH', `${cms('ns1')}/p8`, '{"metadata":{"ownerReferences":null}}', MERGE);
    const bare = await get(`${cms('ns1')}/p8`);
    expect(bare.metadata.ownerReferences).toBeUndefined();
    const put = await proxied.ask(guest, 'PUT', `${cms('ns1')}/p8`, JSON.stringify({ ...bare, data: { a: '1' } }));
    expect(put.json).toMatchObject({ data: { a: '1' } });
    expect(put.json.metadata.ownerReferences).toBeUndefined();
    expect((await proxied.ask(guest, 'DELETE', `${cms('ns1')}/p8`)).status).toBe(200);
    const place = { group: '', version: 'v1', kind: 'ConfigMap', namespace: 'ns1', name: 'p8', subresource: '' };
    expect(proxied.told.writes).toEqual(['create', 'patch', 'update', 'delete'].map((verb) => ({ ...place, verb })));
  });

  test('a generated name is listed', async () => {
    const { json } = await post(cms('ns1'), { ...cm(''), metadata: { generateName: 'made-' } });
    expect(json.metadata.name).toMatch(/^made-.+/);
    expect(proxied.told.writes).toMatchObject([{ verb: 'create', name: json.metadata.name }]);
  });

  test('what is refused, and what is a trial, is no write', async () => {
    expect((await post(cms('nowhere'), cm('x'))).status).toBe(404);
    expect((await post(cms('ns1'), { kind: 'ConfigMap', metadata: { name: 'UPPER' } })).status).toBe(422);
    expect((await post(`${cms('ns1')}?dryRun=All`, cm('trial'))).status).toBe(201);
    expect(proxied.told.writes).toEqual([]);
  });

  test('a body in YAML is marked', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  "on": "yes"\n';
    const { json } = await proxied.ask(guest, 'POST', cms('ns1'), yaml, 'application/yaml');
    expect(json).toMatchObject({ data: { on: 'yes' }, metadata: { ownerReferences: [REFERENCE] } });
  });

  describe('a server-side apply', () => {
    const apply = (name: string, body: string, manager = 'mine', namespace = 'ns1') =>
      proxied.ask(guest, 'PATCH', `${cms(namespace)}/${name}?fieldManager=${manager}`, body, APPLY);
    const yaml = (name: string, data: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: ${data}\n`;

    test('marks what it makes, and keeps the mark when it comes again', async () => {
      const first = await apply('applied', yaml('applied', 'one'));
      expect(first.status).toBe(201);
      expect(first.json.metadata.ownerReferences).toEqual([REFERENCE]);
      const second = await apply('applied', yaml('applied', 'two'));
      expect(second.json).toMatchObject({ data: { a: 'two' }, metadata: { ownerReferences: [REFERENCE] } });
      const third = await apply('applied', JSON.stringify({ ...cm('applied'), data: { a: 'three' } }));
      expect(third.json).toMatchObject({ data: { a: 'three' }, metadata: { ownerReferences: [REFERENCE] } });
    });

    test('that names the owner itself is taken', async () => {
      const object = { ...cm('own', { ownerReferences: [REFERENCE] }), data: { a: 'b' } };
      for (const _ of [1, 2]) {
        const { status, json } = await apply('own', JSON.stringify(object));
        expect(status).toBeLessThan(300);
        expect(json.metadata.ownerReferences).toEqual([REFERENCE]);
      }
    });

    test('leaves what belongs to others as it is', async () => {
      await post(cms('ns2'), cm('foreign'), proxied.admit({ ...WIDGET, name: 'other', uid: 'u5', namespace: 'ns2' }));
      const { status, json } = await apply('foreign', yaml('foreign', 'x'), 'mine', 'ns2');
      expect(status).toBe(200);
      expect(json.metadata.ownerReferences).toEqual([{ ...REFERENCE, name: 'other', uid: 'u5' }]);
      expect(json.metadata.annotations).toBeUndefined();
    });

    test('of what is no YAML is refused, and does nothing', async () => {
      expect((await apply('broken', 'not: [closed')).status).toBe(400);
      expect((await apply('broken', `${yaml('broken', '1')}---\n${yaml('other', '2')}`)).status).toBe(400);
      expect((await proxied.ask(guest, 'GET', `${cms('ns1')}/broken`)).status).toBe(404);
    });
  });

  test('a kind that is made just now is known at once', async () => {
    const objects = '/apis/late.io/v1/namespaces/ns1/things';
    const thing = '{"apiVersion":"late.io/v1","kind":"Thing","metadata":{"name":"t1"},"big":9007199254740993}';
    const make = () => proxied.ask(guest, 'POST', objects, thing);
    expect((await make()).status).toBe(404);
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.late.io' },
      spec: {
        group: 'late.io',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await post(definitions, crd)).json.metadata.annotations).toMatchObject(ANNOTATIONS);
    // Objects and discovery of a new kind are two matters of the API server, in any order.
    await eventually('the kind is served', async () => {
      const { resources = [] } = (await get('/apis/late.io/v1')) ?? {};
      const isListed = resources.some(({ name }: { name: string }) => name === 'things');
      return isListed && (await proxied.ask(guest, 'GET', objects)).status === 200;
    });
    const made = await make();
    expect(made.json.metadata.ownerReferences).toEqual([REFERENCE]);
    // The API server keeps integers of 64 bits; so does the proxy.
    expect(made.text).toContain('9007199254740993');
    expect(proxied.told.dependents).toMatchObject([{ group: 'late.io', kind: 'Thing', mark: 'owner_reference' }]);
  });

  test('a watch tells each event at once', async () => {
    const watching = request(proxied.options(guest, 'GET', `${cms('ns2')}?watch=1&resourceVersion=0`)).end();
    const [answer] = (await once(watching, 'response')) as [IncomingMessage];
    let lines = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      lines += chunk;
    });
    answer.on('error', () => undefined);
    await post(cms('ns2'), cm('seen'));
    await eventually('the event is there', async () => lines.includes('"name":"seen"'));
    watching.destroy();
  });

  test('pages go through: a client that follows them ends', async () => {
    for (let n = 0; n < 12; n += 1) await post(cms('ns2'), cm(`page-${n}`, { labels: { page: 'yes' } }));
    const names = [];
    let next = '';
    do {
      const page = await get(`${cms('ns2')}?labelSelector=page%3Dyes&limit=5&continue=${encodeURIComponent(next)}`);
      names.push(...page.items.map((item: { metadata: { name: string } }) => item.metadata.name));
      next = page.metadata.continue ?? '';
    } while (next !== '');
    expect(new Set(names).size).toBe(12);
    expect(names).toHaveLength(12);
  });

  test('without injection nothing is marked and nothing watched', async () => {
    const plain = await openProxied(access(), { inject: false });
    try {
      const { json } = await plain.ask(plain.admit(), 'POST', cms('ns1'), JSON.stringify(cm('unmarked')));
      expect(json.metadata.ownerReferences).toBeUndefined();
      expect(plain.told.dependents).toEqual([]);
      expect(plain.told.writes).toMatchObject([{ kind: 'ConfigMap', name: 'unmarked' }]);
    } finally {
      await plain.close();
    }
  });

  test('dependents are watched in the namespaces of the operator alone; the mark is made in any', async () => {
    const narrow = await openProxied(access(), { watchedNamespaces: ['ns1'] });
    try {
      const one = narrow.admit();
      const { json } = await narrow.ask(one, 'POST', cms('ns2'), JSON.stringify(cm('unwatched')));
      expect(json.metadata.annotations).toEqual(ANNOTATIONS);
      expect(narrow.told.dependents).toEqual([]);
      await narrow.ask(one, 'POST', cms('ns1'), JSON.stringify(cm('watched')));
      expect(narrow.told.dependents).toHaveLength(1);
    } finally {
      await narrow.close();
    }
  });

  test('a process that starts again takes its live runs at the same address, with the same CA', async () => {
    const before = await openProxied(access());
    const { run, authorization, password } = before.admit();
    const { port, ca } = before.proxy;
    await before.proxy.close();
    const after = await openProxied(access(), { folder: before.folder });
    try {
      expect(after.proxy).toMatchObject({ port, ca });
      expect((await after.ask({ run, authorization, password }, 'GET', '/version')).status).toBe(401);
      after.proxy.admit(run);
      expect((await after.ask({ run, authorization, password }, 'GET', '/version')).json).toHaveProperty('gitVersion');
      await expect(openProxied(access(), { port })).rejects.toThrow(`port ${port} is taken`);
    } finally {
      await after.close();
    }
  });
});
