/** What requests ask for, and what the proxy does with them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bearsMark, markingOf, markObject, markOf, watchesDependent } from '../../../domain/operator/owner-mark.ts';
import { type OwnerText, readOwner, writeOwner } from '../../../domain/operator/owner-text.ts';
import { requestInfo } from '../../../domain/operator/request-info.ts';

const N = '/api/v1/namespaces/ns1';
const D = '/apis/apps/v1/namespaces/ns1/deployments';

describe('a path', () => {
  test.each([
    ['GET /version'],
    ['GET /api/v1'],
    ['GET /apis/apps/v1'],
    ['GET /openapi/v3'],
    ['GET /apis'],
    ['GET /'],
    ['GET /api/v1/watch'],
    ['GET /other/v1/pods'],
    ['GET /api/v1/pods/%zz'],
  ])('%s asks for no resource', (request) => {
    const [method = '', url = ''] = request.split(' ');
    expect(requestInfo(method, url)).toBeNull();
  });

  test.each([
    ['GET /api/v1/namespaces', 'list', '', 'namespaces', '', ''],
    [`GET ${N}`, 'get', 'ns1', 'namespaces', '', 'ns1'],
    [`PUT ${N}/finalize`, 'update', 'ns1', 'namespaces', 'finalize', 'ns1'],
    [`GET ${N}/configmaps`, 'list', 'ns1', 'configmaps', '', ''],
    [`GET ${N}/configmaps/cm1`, 'get', 'ns1', 'configmaps', '', 'cm1'],
    [`GET ${N}/pods/p1/log`, 'get', 'ns1', 'pods', 'log', 'p1'],
    [`GET ${N}/pods?watch=true`, 'watch', 'ns1', 'pods', '', ''],
    [`GET ${N}/pods?watch=1&fieldSelector=metadata.name%3Dp1`, 'watch', 'ns1', 'pods', '', 'p1'],
    [`GET ${N}/pods?fieldSelector=metadata.name%3Dp1`, 'list', 'ns1', 'pods', '', 'p1'],
    [`GET ${N}/pods?fieldSelector=metadata.name!%3Dp1&watch=false`, 'list', 'ns1', 'pods', '', ''],
    ['GET /api/v1/watch/namespaces/ns1/pods', 'watch', 'ns1', 'pods', '', ''],
    [`GET ${D}/d1/scale`, 'get', 'ns1', 'deployments', 'scale', 'd1'],
    [`POST ${D}`, 'create', 'ns1', 'deployments', '', ''],
    [`DELETE ${D}`, 'deletecollection', 'ns1', 'deployments', '', ''],
    [`DELETE ${D}/d1`, 'delete', 'ns1', 'deployments', '', 'd1'],
    [`PATCH ${D}/d1?fieldManager=x`, 'patch', 'ns1', 'deployments', '', 'd1'],
    ['GET /api/v1/nodes/n1/proxy/metrics', 'get', '', 'nodes', 'proxy', 'n1'],
    ['POST /api/v1/namespaces', 'create', '', 'namespaces', '', ''],
  ])('%s', (request, verb, namespace, resource, subresource, name) => {
    const [method = '', url = ''] = request.split(' ');
    const group = url.startsWith('/apis/') ? 'apps' : '';
    expect(requestInfo(method, url)).toEqual({ verb, group, version: 'v1', namespace, resource, subresource, name });
  });

  test('of any form does no harm', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, query) => {
        const info = requestInfo('GET', `/api/v1${path}?${query}`);
        expect(info === null || info.version === 'v1').toBe(true);
      }),
    );
  });
});

const owner: OwnerText = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: 'u1', namespace: 'ns1' };
const real = { namespaced: true, verbs: ['create', 'get', 'list', 'watch'] };
const JSON_TYPE = 'application/json';
const APPLY = 'application/apply-patch+yaml; charset=utf-8';

describe('what the proxy does', () => {
  test.each([
    ['P1', 'POST', `${N}/configmaps`, JSON_TYPE, real, 'mark'],
    ['P5', 'POST', `${N}/pods/p1/exec`, JSON_TYPE, real, 'forward'],
    [
      'P6',
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      JSON_TYPE,
      { namespaced: false, verbs: ['create'] },
      'forward',
    ],
    ['P7', 'PATCH', `${N}/configmaps/c`, 'application/merge-patch+json', real, 'forward'],
    ['P7', 'PUT', `${N}/configmaps/c`, JSON_TYPE, real, 'forward'],
    ['P7', 'DELETE', `${N}/configmaps/c`, JSON_TYPE, real, 'forward'],
    ['GET', 'GET', `${N}/configmaps/c`, '', real, 'forward'],
    ['apply', 'PATCH', `${N}/configmaps/c`, APPLY, real, 'mark_if_ours'],
    ['apply of a subresource', 'PATCH', `${N}/configmaps/c/status`, APPLY, real, 'forward'],
    ['a kind that discovery does not know', 'POST', `${N}/odds`, JSON_TYPE, null, 'forward'],
    ['no resource', 'POST', '/version', JSON_TYPE, real, 'forward'],
  ])('%s: %s %s', (_, method, url, type, resource, expected) => {
    expect(markingOf(method, type, requestInfo(method, url), resource)).toBe(expected);
  });

  test.each([
    ['P1', 'ns1', true, 'ns1', 'owner_reference'],
    ['P2', 'ns1', true, 'ns2', 'annotations'],
    ['P3', 'ns1', false, '', 'annotations'],
    ['P4', '', true, 'ns2', 'owner_reference'],
    ['both cluster-scoped', '', false, '', 'owner_reference'],
  ])('%s: owner in %j, object namespaced %s in %j', (_, namespace, namespaced, of, mark) => {
    expect(markOf({ namespace }, namespaced, of)).toBe(mark);
  });
});

describe('a mark', () => {
  const reference = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: 'u1' };
  test('P1, P8: the owner reference is the last one', () => {
    expect(markObject({ kind: 'ConfigMap', data: { a: 'b' } }, owner, 'owner_reference')).toEqual({
      kind: 'ConfigMap',
      data: { a: 'b' },
      metadata: { ownerReferences: [reference] },
    });
    const other = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u2' };
    const object = { metadata: { generateName: 'x-', ownerReferences: [other] } };
    expect(markObject(object, owner, 'owner_reference').metadata).toEqual({
      generateName: 'x-',
      ownerReferences: [other, reference],
    });
  });

  test('P2: annotations, others stay', () => {
    const object = { metadata: { annotations: { a: 'b', 'operator-sdk/primary-resource': 'old' } } };
    expect(markObject(object, owner, 'annotations').metadata).toEqual({
      annotations: {
        a: 'b',
        'operator-sdk/primary-resource': 'ns1/w1',
        'operator-sdk/primary-resource-type': 'Widget.demo.io',
      },
    });
    const secret = { ...owner, apiVersion: 'v1', kind: 'Secret' };
    expect(markObject({}, secret, 'annotations').metadata).toMatchObject({
      annotations: { 'operator-sdk/primary-resource-type': 'Secret' },
    });
  });

  test.each([{ metadata: 5 }, { metadata: { ownerReferences: {} } }])('%j cannot be marked', (object) => {
    expect(() => markObject(object, owner, 'owner_reference')).toThrow(TypeError);
  });

  test('is known again, and only by its own owner', () => {
    for (const mark of ['owner_reference', 'annotations'] as const) {
      const marked = markObject({}, owner, mark);
      expect(bearsMark(marked, owner)).toBe(true);
      expect(bearsMark(marked, { ...owner, name: 'w2', uid: 'u2' })).toBe(false);
    }
    expect(bearsMark({ metadata: 'odd' }, owner)).toBe(false);
  });
});

describe('a dependent is watched', () => {
  const entry = {
    watch_dependent_resources: true,
    watch_cluster_scoped_resources: false,
    blacklist: [{ group: '', version: 'v1', kind: 'Pod' }],
  };
  const of = (kind: string, namespaced: boolean) => ({ group: '', version: 'v1', kind, namespaced });
  test.each([
    ['by owner reference', entry, of('ConfigMap', true), 'owner_reference', true],
    ['on the blacklist', entry, of('Pod', true), 'owner_reference', false],
    ['not at all', { ...entry, watch_dependent_resources: false }, of('ConfigMap', true), 'owner_reference', false],
    ['by annotations', entry, of('ConfigMap', true), 'annotations', true],
    ['P3: cluster-scoped', entry, of('Namespace', false), 'annotations', false],
    [
      'P3: with the flag',
      { ...entry, watch_cluster_scoped_resources: true },
      of('Namespace', false),
      'annotations',
      true,
    ],
    ['cluster-scoped owner', entry, of('Namespace', false), 'owner_reference', true],
  ] as const)('%s', (_, of, object, mark, watched) => expect(watchesDependent(of, object, mark)).toBe(watched));
});

describe('the text of an owner', () => {
  const TEXT =
    'eyJhcGlWZXJzaW9uIjoiY2FjaGUuZXhhbXBsZS5jb20vdjFhbHBoYTEiLCJraW5kIjoiTWVtY2FjaGVkIiwibmFtZSI6Im0xIiwidWlkIjoiMTExMTExMTEtMjIyMi0zMzMzLTQ0NDQtNTU1NTU1NTU1NTU1IiwiTmFtZXNwYWNlIjoibnMxIn0=';
  const memcached: OwnerText = {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    name: 'm1',
    uid: '11111111-2222-3333-4444-555555555555',
    namespace: 'ns1',
  };

  test('is that of the vector, and comes back', () => {
    expect(writeOwner(memcached)).toBe(TEXT);
    expect(readOwner(TEXT)).toEqual(memcached);
  });

  test('comes back in either alphabet, with members in any case', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string(), (name, namespace) => {
        const one = { ...memcached, name: name.toWellFormed(), namespace: namespace.toWellFormed() };
        const text = writeOwner(one);
        expect(text).toMatch(/^[A-Za-z0-9_-]+=*$/);
        expect(readOwner(text)).toEqual(one);
        expect(readOwner(text.replaceAll('-', '+').replaceAll('_', '/'))).toEqual(one);
      }),
    );
    const odd = btoa('{"APIVERSION":"v1","Kind":"Pod","name":"p","UID":"u"}');
    expect(readOwner(odd)).toEqual({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', namespace: '' });
  });

  test.each(['', 'garbage!', btoa('[]'), btoa('{}'), btoa('{"kind":5}'), btoa('nojson')])('%j is none', (text) => {
    expect(readOwner(text)).toBeNull();
  });
});
