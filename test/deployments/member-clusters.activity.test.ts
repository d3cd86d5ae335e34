import { X509Certificate } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { isMusterError } from '../../domain/errors.ts';
import { type AddressRules, openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { openMemberClusters } from '../../drivers/member-clusters/member-clusters.ts';
import { selfSigned } from '../support/fakes/self-signed.ts';
import { kubeconfigOf } from './cluster-fixtures.ts';

const RULES: AddressRules = { allowLoopback: true, networks: [], own: [] };
const addresses = openAddresses(RULES);
const read = openKubeconfigs(addresses);
const { key, cert } = selfSigned();
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Longer than any pause between the calls of a test. */
const KEPT_MS = 60_000;
const servers: Server[] = [];
let answer: RequestListener;
let port = 0;

beforeAll(async () => {
  const server = createServer({ key, cert, requestCert: true, rejectUnauthorized: false }, (request, response) =>
    answer(request, response),
  );
  server.keepAliveTimeout = KEPT_MS;
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  for (const server of servers) server.close();
});

const config = (cluster: object, user: object = { token: 'hunter2' }) => {
  const parsed = JSON.parse(kubeconfigOf({ server: `https://127.0.0.1:${port}` }));
  parsed.clusters[0].cluster = {
    ...parsed.clusters[0].cluster,
    'certificate-authority-data': base64(cert),
    ...cluster,
  };
  parsed.users[0].user = user;
  return Buffer.from(JSON.stringify(parsed));
};
const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (isMusterError(error) ? `${error.code} ${error.field ?? ''}`.trim() : String(error)),
  );

describe('a kubeconfig', () => {
  const canary = `/tmp/muster-canary-${process.pid}`;
  afterEach(() => rmSync(canary, { force: true }));

  test('with a command runs nothing', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'touch',
      args: [canary],
      interactiveMode: 'Never',
    };
    expect(await codeOf(read(config({}, { exec })))).toBe('invalid_kubeconfig users.exec');
    expect(existsSync(canary)).toBe(false);
  });

  test('says when its certificate ends', async () => {
    const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    const { endsAt } = await read(config({}, user));
    expect((endsAt as Date).getTime()).toBeGreaterThan(Date.now());
  });

  test.each<[string, object, object, string]>([
    [
      'a key of another certificate',
      {},
      { 'client-certificate-data': base64(cert), 'client-key-data': base64(selfSigned().key) },
      'users.client-key-data',
    ],
    [
      'a key that is none',
      {},
      { 'client-certificate-data': base64(cert), 'client-key-data': base64('key') },
      'users.client-key-data',
    ],
    [
      'a certificate that is none',
      {},
      { 'client-certificate-data': base64('cert'), 'client-key-data': base64(key) },
      'users.client-certificate-data',
    ],
    [
      'no base64',
      {},
      { 'client-certificate-data': '*', 'client-key-data': base64(key) },
      'users.client-certificate-data',
    ],
    [
      'an authority that is none',
      { 'certificate-authority-data': base64('CA') },
      { token: 't' },
      'clusters.certificate-authority-data',
    ],
  ])('with %s is refused', async (_title, cluster, user, field) => {
    expect(await codeOf(read(config(cluster, user)))).toBe(`invalid_kubeconfig ${field}`);
  });

  test.each([
    Buffer.of(0xff, 0xfe),
    Buffer.from('['.repeat(100_000)),
    Buffer.from('- '.repeat(100_000)),
    Buffer.from('a: 1\na: 2\n'),
    Buffer.alloc(0),
  ])('that is no plain YAML is refused %#', async (bytes) => {
    expect(await codeOf(read(bytes))).toBe('invalid_kubeconfig');
  });
});

describe('an address', () => {
  const check = (server: string, rules: Partial<AddressRules> = {}) =>
    codeOf(openAddresses({ ...RULES, ...rules }).check(new URL(server)));

  test.each<[string, Partial<AddressRules>, string | null]>([
    ['https://127.0.0.1:6443', {}, null],
    ['https://127.0.0.1:6443', { allowLoopback: false }, 'cluster_address_not_allowed'],
    ['https://localhost:6443', { allowLoopback: false }, 'cluster_address_not_allowed'],
    ['https://[::1]:6443', { allowLoopback: false }, 'cluster_address_not_allowed'],
    ['https://[::ffff:127.0.0.1]:6443', { allowLoopback: false }, 'cluster_address_not_allowed'],
    ['https://10.0.0.1', {}, null],
    ['https://10.0.0.1', { networks: ['10.0.0.0/8'] }, null],
    ['https://11.0.0.1', { networks: ['10.0.0.0/8', 'fd00::/8'] }, 'cluster_address_not_allowed'],
    ['https://169.254.169.254', {}, 'cluster_address_not_allowed'],
    ['https://0x7f.1', { allowLoopback: false }, 'cluster_address_not_allowed'],
    ['https://224.0.0.1', {}, 'cluster_address_not_allowed'],
    ['https://[fe80::1]', {}, 'cluster_address_not_allowed'],
    ['https://[::]', {}, 'cluster_address_not_allowed'],
    ['https://127.0.0.1:5432', { own: [{ host: '127.0.0.1', port: 5432 }] }, 'cluster_address_not_allowed'],
    ['https://localhost:5432', { own: [{ host: '127.0.0.1', port: 5432 }] }, 'cluster_address_not_allowed'],
    ['https://127.0.0.1:5433', { own: [{ host: '127.0.0.1', port: 5432 }] }, null],
    ['https://127.0.0.1', { own: [{ host: '0.0.0.0', port: 443 }] }, 'cluster_address_not_allowed'],
    ['https://no-such-name.invalid', {}, null],
  ])('%s with %j', async (server, rules, expected) => {
    expect(await check(server, rules)).toBe(expected);
  });
});

describe('work on a cluster', () => {
  const clusters = openMemberClusters({ addresses, callMs: 20_000, idleMs: KEPT_MS });
  const object = { kind: 'ConfigMap', metadata: { uid: 'u', resourceVersion: '1' } };
  const answerWith =
    (sockets: Set<unknown>, headers: Record<string, string> = {}): RequestListener =>
    (request, response) => {
      sockets.add(request.socket);
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(object));
    };

  test('keeps its connection for what comes next, and another credential has its own', async () => {
    const sockets = new Set<unknown>();
    answer = answerWith(sockets);
    for (const [token, connections] of [
      ['one', 1],
      ['one', 1],
      ['two', 2],
    ] as const) {
      const member = clusters.openMember((await read(config({}, { token }))).credential);
      for (let call = 0; call < 3; call += 1) {
        expect((await member.readMetadata('/api/v1/x')).found).toMatchObject({ uid: 'u' });
      }
      expect(sockets.size).toBe(connections);
    }
  });

  test('connects anew where a call was not answered', async () => {
    const sockets = new Set<unknown>();
    const good = answerWith(sockets);
    const member = clusters.openMember((await read(config({}, { token: 'three' }))).credential);
    answer = good;
    await member.readMetadata('/api/v1/x');
    answer = (request) => void request.socket.destroy();
    expect((await member.readMetadata('/api/v1/x')).answer).toMatchObject({ noAnswer: 'connection' });
    answer = good;
    expect((await member.readMetadata('/api/v1/x')).found).toMatchObject({ uid: 'u' });
    expect(sockets.size).toBe(2);
  });

  test('reads once more where a kept connection was closed, and sends no change twice', async () => {
    const sockets = new Set<unknown>();
    const good = answerWith(sockets);
    const heard: string[] = [];
    const told = openMemberClusters({
      ...{ addresses, callMs: 20_000, idleMs: KEPT_MS },
      onAnswer: ({ is }) => heard.push(is),
    });
    const member = told.openMember((await read(config({}, { token: 'four' }))).credential);
    let calls = 0;
    const closing: RequestListener = (request, response) => {
      calls += 1;
      if (sockets.has(request.socket)) request.socket.destroy();
      else good(request, response);
    };
    answer = good;
    await member.readMetadata('/api/v1/x');
    answer = closing;
    expect((await member.readMetadata('/api/v1/x')).found).toMatchObject({ uid: 'u' });
    expect([calls, sockets.size]).toEqual([2, 2]);
    const refused = await member.apply('/api/v1/x', {});
    expect([refused.answer, calls]).toEqual([expect.objectContaining({ noAnswer: 'connection' }), 3]);
    expect(heard).toEqual(['accepted', 'accepted', 'unreachable']);
  });

  test('counts no call that its signal ended, and keeps the other connections', async () => {
    const sockets = new Set<unknown>();
    const heard: string[] = [];
    const told = openMemberClusters({
      ...{ addresses, callMs: 20_000, idleMs: KEPT_MS },
      onAnswer: ({ is }) => heard.push(is),
    });
    const member = told.openMember((await read(config({}, { token: 'five' }))).credential);
    const good = answerWith(sockets);
    const held: (() => void)[] = [];
    answer = (request, response) => {
      held.push(() => good(request, response));
      if (held.length === 2) for (const go of held) go();
    };
    await Promise.all([member.readMetadata('/api/v1/x'), member.readMetadata('/api/v1/y')]);
    expect(sockets.size).toBe(2);
    const asked = Promise.withResolvers<void>();
    answer = () => asked.resolve();
    const ended = new AbortController();
    const last = member.findKind({ group: '', version: 'v1', kind: 'ConfigMap' }, { signal: ended.signal });
    await asked.promise;
    ended.abort(new Error('given up'));
    expect((await last).answer).toMatchObject({ noAnswer: 'connection', message: 'given up' });
    answer = good;
    await member.readMetadata('/api/v1/x');
    expect([heard, sockets.size]).toEqual([['accepted', 'accepted', 'accepted'], 2]);
  });

  test('goes on where the cluster ends a connection after an answer', async () => {
    const sockets = new Set<unknown>();
    answer = answerWith(sockets, { connection: 'close' });
    const member = clusters.openMember((await read(config({}))).credential);
    for (let call = 0; call < 3; call += 1) {
      expect((await member.apply('/api/v1/x', {})).found).toMatchObject({ uid: 'u' });
    }
    expect(sockets.size).toBe(3);
  });

  test('learns what is served for all work that comes later, and asks again for what is not known', async () => {
    const asked: string[] = [];
    const kinds = new Map([['/api/v1', ['ConfigMap']]]);
    answer = ({ url = '' }, response) => {
      asked.push(url);
      const named = kinds.get(url)?.map((kind) => ({ kind, name: `${kind.toLowerCase()}s`, namespaced: true }));
      if (named === undefined) response.writeHead(404).end('{"kind":"Status","code":404,"reason":"NotFound"}');
      else response.end(JSON.stringify({ kind: 'APIResourceList', resources: named }));
    };
    const found = async (kind: string, group = '', how = {}) => {
      const member = clusters.openMember((await read(config({}, { token: 'kinds' }))).credential);
      const first = await member.findKind({ group, version: 'v1', kind }, how);
      expect(await member.findKind({ group, version: 'v1', kind }, how)).toMatchObject({ found: first.found });
      return first.found?.plural ?? null;
    };
    const configs = [await found('ConfigMap'), await found('ConfigMap')];
    expect([...configs, asked]).toEqual(['configmaps', 'configmaps', ['/api/v1']]);
    // Anew is once for a piece of work.
    expect([await found('ConfigMap', '', { isAnew: true }), asked.length]).toEqual(['configmaps', 2]);
    expect(await found('Thing', 'example.com')).toBe(null);
    kinds.set('/apis/example.com/v1', ['Thing']);
    expect(await found('Thing', 'example.com')).toBe('things');
    // A kind that comes to a version that is known.
    expect(await found('Other', 'example.com')).toBe(null);
    kinds.set('/apis/example.com/v1', ['Thing', 'Other']);
    expect(await found('Other', 'example.com')).toBe('others');
    kinds.delete('/apis/example.com/v1');
    expect(await found('Other', 'example.com')).toBe('others');
    expect(await found('Other', 'example.com', { isAnew: true })).toBe(null);
    expect(await found('Other', 'example.com')).toBe(null);
    const others = clusters.openMember((await read(config({}, { token: 'other-kinds' }))).credential);
    asked.length = 0;
    expect((await others.findKind({ group: '', version: 'v1', kind: 'ConfigMap' })).found).not.toBe(null);
    expect(asked).toEqual(['/api/v1']);
  });

  test('has its client certificate and trusts the authority of the kubeconfig alone', async () => {
    const sockets = new Set<unknown>();
    answer = answerWith(sockets);
    const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    const own = clusters.openMember((await read(config({}, user))).credential);
    expect((await own.readMetadata('/api/v1/x')).found).toMatchObject({ uid: 'u' });
    const [socket] = sockets as Set<TLSSocket>;
    expect(socket?.getPeerX509Certificate()?.fingerprint256).toBe(new X509Certificate(cert).fingerprint256);
    const other = { 'certificate-authority-data': base64(selfSigned().cert) };
    const foreign = clusters.openMember((await read(config(other))).credential);
    expect((await foreign.readMetadata('/api/v1/x')).answer).toMatchObject({ noAnswer: 'connection' });
  });

  test('connects to no address that is not allowed any more', async () => {
    const { credential } = await read(config({}));
    const narrow = openMemberClusters({ addresses: openAddresses({ ...RULES, allowLoopback: false }), callMs: 20_000 });
    for (const host of ['127.0.0.1', 'localhost']) {
      const member = narrow.openMember({ ...credential, server: `https://${host}:${port}` });
      expect((await member.readMetadata('/api/v1/x')).answer).toMatchObject({ noAnswer: 'address' });
    }
  });
});

describe('a probe', () => {
  const clusters = openMemberClusters({ addresses, callMs: 20_000 });
  const version = async (cluster: object = {}, withinMs?: number) =>
    clusters.readVersion((await read(config(cluster))).credential, withinMs);

  test('reads the version with the token of the cluster', async () => {
    let asked: unknown;
    answer = (request, response) => {
      asked = [request.url, request.headers.authorization];
      response.end(JSON.stringify({ gitVersion: 'v1.34.1' }));
    };
    expect(await version()).toEqual({ version: 'v1.34.1' });
    expect(asked).toEqual(['/version', 'Bearer hunter2']);
    expect(await version({ server: `https://127.0.0.1:${port}/k8s/c-1/` })).toEqual({ version: 'v1.34.1' });
    expect(asked).toEqual(['/k8s/c-1/version', 'Bearer hunter2']);
  });

  test('knows the certificate by the name that the kubeconfig gives', async () => {
    answer = (_request, response) => void response.end(JSON.stringify({ gitVersion: 'v1' }));
    expect(await version({ 'tls-server-name': 'localhost' })).toEqual({ version: 'v1' });
    expect(await version({ 'tls-server-name': 'elsewhere' })).toMatchObject({ noAnswer: 'connection' });
  });

  test('has the client certificate of its kubeconfig, each on a connection of its own', async () => {
    const sockets = new Map<unknown, string | undefined>();
    answer = ({ socket }, response) => {
      sockets.set(socket, (socket as TLSSocket).getPeerX509Certificate()?.fingerprint256);
      response.end(JSON.stringify({ gitVersion: 'v1' }));
    };
    const other = selfSigned();
    const users = [
      { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
      { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
      { 'client-certificate-data': base64(other.cert), 'client-key-data': base64(other.key) },
    ];
    for (const user of users)
      expect(await clusters.readVersion((await read(config({}, user))).credential)).toEqual({ version: 'v1' });
    const shown = [cert, cert, other.cert].map((pem) => new X509Certificate(pem).fingerprint256);
    expect([...sockets.values()]).toEqual(shown);
  });

  test('trusts the authority of the kubeconfig alone', async () => {
    answer = (_request, response) => void response.end(JSON.stringify({ gitVersion: 'v1' }));
    expect(await version({ 'certificate-authority-data': base64(selfSigned().cert) })).toMatchObject({
      noAnswer: 'connection',
    });
  });

  test.each<[string, RequestListener, object, number?]>([
    ['HTML', (_request, response) => void response.end('<html>'), { refused: 'NotKubernetes' }],
    ['no version', (_request, response) => void response.end('{}'), { refused: 'NotKubernetes' }],
    [
      'a redirect',
      (_request, response) => void response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end(),
      { refused: 'NotKubernetes' },
    ],
    [
      '401',
      (_request, response) => void response.writeHead(401).end('{"kind":"Status","reason":"Unauthorized"}'),
      { refused: 'Unauthorized' },
    ],
    ['nothing', () => undefined, { noAnswer: 'connection', message: 'no answer within 0.5 s' }, 500],
    ['a reset', (request) => void request.socket.destroy(), { noAnswer: 'connection' }],
    [
      'an answer without end',
      (_request, response) => {
        const more = setInterval(() => (response.destroyed ? clearInterval(more) : response.write(' ')), 20).unref();
      },
      { noAnswer: 'connection', message: 'no answer within 0.5 s' },
      500,
    ],
    [
      'an answer that is too large',
      (_request, response) => void response.end(Buffer.alloc(33 * 1024 * 1024, ' ')),
      { refused: 'NotKubernetes' },
    ],
  ])('says what is wrong with %s', async (...[_title, listener, expected, withinMs]) => {
    answer = listener;
    expect(await version({}, withinMs)).toMatchObject(expected);
  });

  test('is one for all that ask at the same time, and an answer of a moment ago is enough for them', async () => {
    const HOUR_MS = 3_600_000;
    const asked: string[] = [];
    let held: (() => void) | null = null;
    const good: RequestListener = ({ url = '' }, response) => {
      asked.push(url);
      const say = () => response.end(JSON.stringify({ gitVersion: 'v1', kind: 'Any' }));
      if (url === '/version' && held === null) held = say;
      else say();
    };
    answer = good;
    const own = openMemberClusters({ addresses, callMs: 20_000 });
    const { credential } = await read(config({}));
    const { credential: other } = await read(config({}, { token: 'other' }));
    const versionOf = (heardMs?: number) => own.readVersion(credential, 20_000, heardMs);
    const together = [versionOf(HOUR_MS), versionOf(HOUR_MS), versionOf(0)];
    while (held === null) await new Promise((resolve) => setTimeout(resolve, 5));
    // Who asks for itself, and another credential, share nothing.
    const single = [await versionOf(), await own.readVersion(other, 20_000, HOUR_MS)];
    expect(single).toEqual([{ version: 'v1' }, { version: 'v1' }]);
    expect(asked).toHaveLength(3);
    (held as () => void)();
    expect(await Promise.all(together)).toEqual(Array(3).fill({ version: 'v1' }));
    expect([await versionOf(HOUR_MS), asked.length]).toEqual([{ version: 'v1' }, 3]);
    // Any call that has no answer makes it unknown again.
    answer = (request) => void request.socket.destroy();
    await own.openMember(credential).readMetadata('/api/v1/x');
    expect(await versionOf(HOUR_MS)).toMatchObject({ noAnswer: 'connection' });
    answer = (_request, response) => void response.writeHead(401).end('{"kind":"Status","reason":"Unauthorized"}');
    expect(await versionOf(HOUR_MS)).toMatchObject({ refused: 'Unauthorized' });
    answer = good;
    expect([await versionOf(HOUR_MS), asked.length]).toEqual([{ version: 'v1' }, 4]);
    // So does what is not of Kubernetes: it comes from in front of the cluster.
    answer = (_request, response) => void response.writeHead(404).end('<html>');
    await own.openMember(credential).readMetadata('/api/v1/x');
    expect(await versionOf(HOUR_MS)).toMatchObject({ refused: 'NotKubernetes' });
  });

  test('tells what each answer means, and of watches nothing', async () => {
    const heard: string[] = [];
    const told = openMemberClusters({ addresses, callMs: 20_000, onAnswer: ({ is }) => heard.push(is) });
    const { credential } = await read(config({}));
    const member = told.openMember(credential);
    const refusal = (code: number) => `{"kind":"Status","code":${code},"reason":"Because"}`;
    for (const code of [200, 404, 409, 500, 503]) {
      answer = (_request, response) => void response.writeHead(code).end(code === 200 ? '{}' : refusal(code));
      await member.readMetadata('/api/v1/namespaces/a');
    }
    answer = (_request, response) => void response.writeHead(404).end(refusal(404));
    await member.apply('/api/v1/namespaces/a', {});
    answer = (_request, response) => void response.writeHead(409).end(refusal(409));
    await member.delete('/api/v1/namespaces/a', { uid: 'u', resourceVersion: '1' });
    await told.readVersion({ ...credential, server: 'https://127.0.0.1:1' });
    expect(heard).toEqual([
      ...['accepted', 'absent', 'refused', 'ask-version', 'unreachable', 'refused', 'changed', 'unreachable'],
    ]);
    await member.watchKind(
      { path: '/api/v1/pods', isMetadataOnly: false, after: '1' },
      async () => undefined,
      AbortSignal.timeout(1_000),
    );
    expect(heard).toHaveLength(8);
  });

  const known = (reason: string | null) => ({ httpStatus: 404, body: reason === null ? null : { reason } });
  test.each<[string, string[] | number, object]>([
    ['a group that the server does not list', [], known('NotFound')],
    ['a version that it does not list', ['more.example.com/v1'], known('NotFound')],
    ['a version that it lists', ['more.example.com/v2'], known(null)],
    ['something that lists no groups', 404, known(null)],
    ['a server that has no time for its list', 503, { httpStatus: 503 }],
    ['a credential that is not taken any more', 401, { httpStatus: 401 }],
  ])('knows %s by more than words', async (_title, listed, expected) => {
    answer = ({ url }, response) => {
      const status = url === '/apis' ? listed : 404;
      if (typeof status === 'number') {
        response.writeHead(status, { 'content-type': 'text/plain' }).end(`${status} in plain text`);
        return;
      }
      const groups = [{ name: 'more.example.com', versions: status.map((groupVersion) => ({ groupVersion })) }];
      response.end(JSON.stringify({ kind: 'APIGroupList', groups }));
    };
    const member = clusters.openMember((await read(config({}))).credential);
    const asked = await member.findKind({ group: 'more.example.com', version: 'v2', kind: 'More' });
    expect(asked).toMatchObject({ found: null, answer: expected });
  });

  test('connects to no address that is not allowed any more', async () => {
    const { credential } = await read(config({}));
    const narrow = openMemberClusters({ addresses: openAddresses({ ...RULES, allowLoopback: false }), callMs: 20_000 });
    expect(await narrow.readVersion(credential)).toMatchObject({ noAnswer: 'address' });
    const taken = createTcpServer();
    let connections = 0;
    taken.on('connection', (socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const own = (taken.address() as AddressInfo).port;
    const guarded = openMemberClusters({
      addresses: openAddresses({ ...RULES, own: [{ host: '127.0.0.1', port: own }] }),
      callMs: 20_000,
    });
    const told = await guarded.readVersion({ ...credential, server: `https://localhost:${own}` });
    taken.close();
    expect([told, connections]).toEqual([expect.objectContaining({ noAnswer: 'address' }), 0]);
  });
});
