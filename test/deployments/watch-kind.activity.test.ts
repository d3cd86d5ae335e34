/** The watch of one kind over the wire: streamed lists, lists by page, and every way in which a stream ends. */
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { KindWatch, MemberCluster, WatchMessage } from '../../domain/deployments/ports.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { openMemberClusters } from '../../drivers/member-clusters/member-clusters.ts';
import { eventually } from '../support/eventually.ts';
import { selfSigned } from '../support/fakes/self-signed.ts';
import { kubeconfigOf } from './cluster-fixtures.ts';

const addresses = openAddresses({ allowLoopback: true, networks: [], own: [] });
const { key, cert } = selfSigned();
let server: Server;
let answer: RequestListener;
let member: MemberCluster;
/** Waits only a moment for an answer. */
let impatient: MemberCluster;
let told: string[] = [];
let asked: { query: Record<string, string>; accept: string | undefined; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer({ key, cert }, (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'https://any');
    const { accept, authorization } = request.headers;
    asked.push({ query: Object.fromEntries(searchParams), accept, authorization });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const file = JSON.parse(kubeconfigOf({ server: `https://127.0.0.1:${port}` }));
  file.clusters[0].cluster['certificate-authority-data'] = Buffer.from(cert).toString('base64');
  const { credential } = await openKubeconfigs(addresses)(Buffer.from(JSON.stringify(file)));
  member = openMemberClusters({ addresses, callMs: 30_000 }).openMember(credential);
  impatient = openMemberClusters({ addresses, callMs: 500 }).openMember(credential);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  told = [];
  asked = [];
});

const never = new AbortController().signal;
const object = (name: string, version: string, more: object = {}) => ({
  metadata: { name, resourceVersion: version, ...more },
});
const line = (type: string, value: object) => `${JSON.stringify({ type, object: value })}\n`;
const listEnd = (version: string) =>
  line('BOOKMARK', { metadata: { resourceVersion: version, annotations: { 'k8s.io/initial-events-end': 'true' } } });
const status = (response: ServerResponse, code: number, reason: string): void =>
  void response.writeHead(code).end(JSON.stringify({ kind: 'Status', reason, message: 'no', code }));
const take = async (message: WatchMessage) => {
  const name = 'object' in message ? ` ${(message.object.metadata as { name: string }).name}` : '';
  told.push(`${message.is}${name}`);
};
const watch = (more: Partial<KindWatch> = {}, signal = never) =>
  member.watchKind({ path: '/api/v1/pods', isMetadataOnly: false, after: null, ...more }, take, signal);

test('tells of all that is there, and then of each change, in one stream', async () => {
  answer = (_request, response) => {
    response.write(line('ADDED', object('b', '9')) + line('ADDED', object('a', '3')));
    response.write(listEnd('10'));
    response.end(line('MODIFIED', object('a', '11')) + line('DELETED', object('b', '12')));
  };
  expect(await watch()).toEqual({ version: '12', failed: null });
  expect(told).toEqual(['open', 'there b', 'there a', 'listed', 'there a', 'gone b']);
  expect(asked).toEqual([
    {
      query: {
        ...{ watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: '600', sendInitialEvents: 'true' },
        ...{ resourceVersionMatch: 'NotOlderThan', labelSelector: 'emco/deployment-id' },
      },
      ...{ accept: 'application/json', authorization: 'Bearer hunter2' },
    },
  ]);
});

test('asks for the metadata alone where data are to stay', async () => {
  answer = (_request, response) => void response.end(listEnd('1'));
  await watch({ isMetadataOnly: true });
  expect(asked[0]?.accept).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
});

test('goes on where it was, and bookmarks count', async () => {
  answer = (_request, response) => {
    response.end(line('BOOKMARK', { metadata: { resourceVersion: '9' } }));
  };
  expect(await watch({ after: '7' })).toEqual({ version: '9', failed: null });
  expect([told, asked[0]?.query.resourceVersion]).toEqual([['open'], '7']);
  expect(asked[0]?.query).not.toHaveProperty('sendInitialEvents');
});

test('reads names whose bytes come apart, and a last line without an end is dropped', async () => {
  const bytes = Buffer.from(line('ADDED', object('grün', '8')));
  const half = bytes.indexOf(Buffer.from('ü')) + 1;
  answer = (_request, response) => {
    response.write(bytes.subarray(0, half));
    setTimeout(() => response.end(Buffer.concat([bytes.subarray(half), Buffer.from('{"type":"ADD')])), 50);
  };
  expect(await watch({ after: '7' })).toEqual({ version: '8', failed: null });
  expect(told).toEqual(['open', 'there grün']);
});

test.each<[string, (response: ServerResponse) => void, string[]]>([
  ['cannot stream what is there', (response) => status(response, 422, 'Invalid'), []],
  ['does not say when that is whole', (response) => response.end(line('ADDED', object('b', '5'))), ['open', 'there b']],
])('lists by page where the server %s', async (_what, streamed, before) => {
  answer = (_request, response) => {
    const query: Record<string, string | undefined> = asked.at(-1)?.query ?? {};
    if (query.sendInitialEvents !== undefined) return streamed(response);
    if (query.watch !== undefined) return void response.end(line('DELETED', object('a', '22')));
    const items = query.continue === undefined ? [object('a', '3')] : [object('b', '5')];
    const metadata = { resourceVersion: '20', ...(query.continue === undefined ? { continue: 'next+page' } : {}) };
    response.end(JSON.stringify({ kind: 'PodList', metadata, items }));
  };
  expect(await watch()).toEqual({ version: '22', failed: null });
  expect(told).toEqual([...before, 'there a', 'there b', 'listed', 'open', 'gone a']);
  expect(asked.map(({ query }) => query.continue ?? query.resourceVersion ?? '')).toEqual(['', '', 'next+page', '20']);
});

test.each<[string, RequestListener, string | null, object]>([
  [
    'a version that is not known any more, in the stream',
    (_request, response) => void response.end(line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })),
    '7',
    { version: null, failed: null },
  ],
  [
    'a version that is not known any more, at once',
    (_request, response) => void status(response, 410, 'Expired'),
    '7',
    { version: null, failed: null },
  ],
  [
    'another error in the stream',
    (_request, response) => void response.end(line('ERROR', { kind: 'Status', code: 500, reason: 'Oops' })),
    '7',
    { version: null, failed: { httpStatus: 500, body: { reason: 'Oops' } } },
  ],
  [
    'no permission',
    (_request, response) => void status(response, 403, 'Forbidden'),
    null,
    { version: null, failed: { httpStatus: 403, body: { kind: 'status', reason: 'Forbidden' } } },
  ],
  [
    'something that is no JSON',
    (_request, response) => void response.end('<html>\n'),
    '7',
    { version: null, failed: { body: { reason: 'NotKubernetes' } } },
  ],
  [
    'a list that breaks off before its end',
    (_request, response) => {
      response.write(line('ADDED', object('a', '3')), () => response.destroy());
    },
    null,
    { version: null, failed: { noAnswer: 'connection' } },
  ],
  [
    'a watch that breaks off',
    (_request, response) => {
      response.write(line('MODIFIED', object('a', '8')));
      void eventually('it is told', () => told.includes('there a')).finally(() => response.destroy());
    },
    '7',
    { version: '8', failed: { noAnswer: 'connection' } },
  ],
])('ends with %s', async (_what, listener, after, expected) => {
  answer = listener;
  expect(await watch({ after })).toMatchObject(expected);
});

test('ends with silence from the begin', async () => {
  answer = () => undefined;
  const asking = { path: '/api/v1/pods', isMetadataOnly: false, after: '7' };
  expect(await impatient.watchKind(asking, take, never)).toMatchObject({
    ...{ version: '7', failed: { noAnswer: 'connection', message: 'no answer within 0.5 s' } },
  });
});

test('ends at once when it is told to, before anything is answered', async () => {
  const end = new AbortController();
  answer = () => end.abort();
  expect(await watch({ after: '7' }, end.signal)).toMatchObject({ version: '7' });
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  expect((await member.findKind(kind, { signal: end.signal })).answer).toMatchObject({ noAnswer: 'connection' });
});

test('ends when it is told to, with what was told before', async () => {
  const end = new AbortController();
  answer = (_request, response) => void response.write(line('ADDED', object('a', '8')));
  const ended = watch({ after: '7' }, end.signal);
  while (!told.includes('there a')) await new Promise((resolve) => setTimeout(resolve, 10));
  end.abort();
  expect(await ended).toEqual({ version: '8', failed: null });
});

test('throws what the one who takes it throws, and drops the connection', async () => {
  const closed = new Promise<void>((resolve) => {
    answer = (request, response) => {
      request.on('close', resolve);
      response.write(line('ADDED', object('a', '8')));
    };
  });
  const fails = async () => {
    throw new Error('the database is away');
  };
  const asking = { path: '/api/v1/pods', isMetadataOnly: false, after: '7' };
  await expect(member.watchKind(asking, fails, never)).rejects.toThrow('the database is away');
  await closed;
});
