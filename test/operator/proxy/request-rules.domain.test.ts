/** Who gets through the proxy, where to, with which headers, and what is listed of it. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type OwnerText, writeOwner } from '../../../domain/operator/owner-text.ts';
import { isSameOwner, readCredentials } from '../../../domain/operator/proxy-credentials.ts';
import { answerHeaders, headerPairs, requestHeaders } from '../../../domain/operator/proxy-headers.ts';
import { targetMistake } from '../../../domain/operator/proxy-target.ts';
import { requestInfo } from '../../../domain/operator/request-info.ts';
import { runKubeconfig } from '../../../domain/operator/run-kubeconfig.ts';
import { writeOf } from '../../../domain/operator/write-list.ts';

const owner: OwnerText = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: 'u1', namespace: 'ns1' };
const N = '/api/v1/namespaces/ns1';

describe('a target', () => {
  test.each([
    '/',
    '/version',
    '/api/',
    `${N}/configmaps/a..b`,
    `${N}/pods?labelSelector=a%2F..%2Fb//c`,
    '/api/v1/namespaces/n/services/http:web:80/proxy/a%2Fb',
    `${N}/configmaps/na%C3%AFve`,
  ])('%s is forwarded', (target) => expect(targetMistake(target)).toBeNull());

  test.each([
    ['http://10.0.0.1/api', 'no path'],
    ['HTTPS://evil/', 'no path'],
    ['evil:443', 'no path'],
    ['*', 'no path'],
    ['', 'no path'],
    ['//evil/api', '"//"'],
    ['/api//v1', '"//"'],
    ['/api/%2Fv1', '"//"'],
    ['/api/v1/../../metrics', '".."'],
    ['/api/v1/..', '".."'],
    ['/./api', '"."'],
    ['/api/%2e%2E/metrics', '".."'],
    ['/api/v1%2f..%2fmetrics', '".."'],
    ['/api/v1/..%5cmetrics', '".."'],
    ['/api/v1/%zz', 'cannot be read'],
    ['/api/v1/%ff', 'cannot be read'],
    ['/api/v1/a%00b', 'control characters'],
    ['/api/v1/a%0D%0Ab', 'control characters'],
    ['/api/v1/pods#x', 'fragment'],
    ['/api/v1/\u00e9', 'escaped'],
    ['/api/v1/a b', 'escaped'],
  ])('%j is refused', (target, words) => expect(targetMistake(target)).toContain(words));

  test('that is forwarded has no segment that leads elsewhere, however it is written', () => {
    const piece = fc.constantFrom('..', '.', '%2e', '%2E.', '/', '%2f', '\\', '%5C', 'a', 'v1', '?', '%');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = `/${pieces.join('')}`;
        if (targetMistake(target) !== null) return;
        const path = decodeURIComponent(target.split('?', 1)[0] ?? '');
        expect(new URL(path, 'http://cluster.test').pathname.length).toBeGreaterThanOrEqual(path.length);
        expect(path).not.toMatch(/\/\/|(^|[/\\])\.\.?([/\\]|$)/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('credentials', () => {
  const basic = (name: string, password: string) => `Basic ${btoa(`${name}:${password}`)}`;

  test('are owner and password, whatever the password holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ':', '_', '-') }), (password) => {
        expect(readCredentials(basic(writeOwner(owner), password))).toEqual({ owner, password });
      }),
    );
    expect(readCredentials(basic(writeOwner(owner).replaceAll('-', '+'), 'p').replace('Basic', 'basic'))).toEqual({
      owner,
      password: 'p',
    });
  });

  test.each([
    ['none', undefined],
    ['an empty header', ''],
    ['a bearer token', 'Bearer abc'],
    ['P10: garbage as a name', basic('garbage', 'p')],
    ['no colon', `Basic ${btoa(writeOwner(owner))}`],
    ['no base64', 'Basic %%%'],
    ['too long', basic(writeOwner(owner), 'x'.repeat(9_000))],
  ])('%s: nobody', (_, header) => expect(readCredentials(header)).toBeNull());

  test.each(['apiVersion', 'kind', 'name', 'uid', 'namespace'] as const)('another %s is another owner', (member) => {
    expect(isSameOwner(owner, { ...owner })).toBe(true);
    expect(isSameOwner(owner, { ...owner, [member]: 'other' })).toBe(false);
  });
});

describe('headers', () => {
  const raw = [
    ...['Authorization', 'Basic x', 'Accept', 'application/json', 'Accept', 'text/plain', 'Host', 'localhost'],
    ...['Connection', 'keep-alive, X-Odd', 'X-Odd', '1', 'X-Remote-User', 'admin', 'x-remote-extra-a', 'b'],
    ...[
      'Transfer-Encoding',
      'chunked',
      'TE',
      'trailers',
      'Content-Length',
      '3',
      'Upgrade',
      'x',
      'Impersonate-User',
      'u',
    ],
  ];

  test('of a request say nothing of who asks and of the connection', () => {
    expect(requestHeaders(headerPairs(raw))).toEqual([
      ['Accept', 'application/json'],
      ['Accept', 'text/plain'],
      ['Impersonate-User', 'u'],
    ]);
  });

  test('of an answer keep its length, and each of several of one name', () => {
    const answer = ['Warning', '299 - "a"', 'Warning', '299 - "b"', 'Content-Length', '3', 'Keep-Alive', 'timeout=5'];
    expect(answerHeaders(headerPairs(answer))).toEqual([
      ['Warning', '299 - "a"'],
      ['Warning', '299 - "b"'],
      ['Content-Length', '3'],
    ]);
  });
});

test('a kubeconfig names proxy, CA, owner and password', () => {
  const config = JSON.parse(runKubeconfig({ port: 8888, ca: 'PEM', owner, password: 'musterproxy_x' }));
  expect(config).toMatchObject({
    clusters: [
      {
        name: 'proxy-server',
        cluster: { server: 'https://127.0.0.1:8888', 'certificate-authority-data': btoa('PEM') },
      },
    ],
    users: [{ name: 'admin/proxy-server', user: { username: writeOwner(owner), password: 'musterproxy_x' } }],
    contexts: [{ name: 'ns1/proxy-server', context: { cluster: 'proxy-server', user: 'admin/proxy-server' } }],
    'current-context': 'ns1/proxy-server',
  });
});

describe('the list of writes', () => {
  const verbs = ['create', 'get', 'list', 'watch'];
  const cm = { kind: 'ConfigMap', verbs };
  const of = (kind: string, verb: string, name: string, subresource = '') => ({
    ...{ verb, group: '', version: 'v1', kind, namespace: 'ns1', name, subresource },
  });
  test.each([
    ['POST', `${N}/configmaps`, cm, of('ConfigMap', 'create', '')],
    ['PUT', `${N}/configmaps/c`, cm, of('ConfigMap', 'update', 'c')],
    ['PATCH', `${N}/configmaps/c?fieldManager=x`, cm, of('ConfigMap', 'patch', 'c')],
    ['DELETE', `${N}/configmaps/c`, null, of('configmaps', 'delete', 'c')],
    ['DELETE', `${N}/configmaps`, cm, of('ConfigMap', 'deletecollection', '')],
    ['PATCH', `${N}/configmaps/c?dryRun=All`, cm, null],
    ['GET', `${N}/configmaps/c`, cm, null],
    ['POST', `${N}/pods/p/exec?command=id`, { kind: 'Pod', verbs }, of('Pod', 'exec', 'p', 'exec')],
    ['GET', `${N}/pods/p/exec?command=id`, { kind: 'Pod', verbs }, of('Pod', 'exec', 'p', 'exec')],
    ['POST', `${N}/pods/p/eviction`, { kind: 'Pod', verbs }, of('Pod', 'create', 'p', 'eviction')],
    [
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { kind: 'SelfSubjectAccessReview', verbs: ['create'] },
      null,
    ],
    ['POST', '/version', null, null],
  ])('%s %s', (method, url, resource, expected) => {
    expect(writeOf(method, url, requestInfo(method, url), resource)).toEqual(expected);
  });
});
