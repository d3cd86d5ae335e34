import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, type Server, type ServerResponse } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { type ClusterClient, createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { watchOnce } from '../../../drivers/kubernetes/watch-stream.ts';

let server: Server;
let client: ClusterClient;
/** How often the way to the cluster was given up. */
let forgotten: number;
let answer: (response: ServerResponse) => void;
const never = new AbortController().signal;
/** So often is looked whether something was told, where no clock goes on. */
const LOOKS = 5_000_000;

beforeEach(async () => {
  server = createServer((_request, response) => answer(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  forgotten = 0;
  client = createClusterClient({
    read: async () => ({ server: new URL(`http://127.0.0.1:${port}`), options: {} }),
    forget: () => {
      forgotten += 1;
    },
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Reads to the end; what was read, and what it ended with. `heard` is called with each part. */
async function read(signal: AbortSignal, lastsMs?: number, heard = () => {}) {
  const parts: string[] = [];
  try {
    for await (const chunk of await client.open('/log', {}, signal, lastsMs)) {
      parts.push(chunk.toString());
      heard();
    }
    return { parts, error: null };
  } catch (error) {
    return { parts, error };
  }
}

const begin = (response: ServerResponse) => void response.writeHead(200).write('first\n');

describe('an answer that goes on', () => {
  test('is ended by whoever reads it without a word against the way to the cluster', async () => {
    const stop = new AbortController();
    answer = begin;
    const ended = await read(stop.signal, undefined, () => stop.abort());
    expect(ended).toMatchObject({ parts: ['first\n'], error: { code: 'cluster_unavailable' } });
    expect(forgotten).toBe(0);
  });

  test('that was cut, or goes on for longer than it may, tells of a way that is dead', async () => {
    let cut = () => {};
    answer = (response) => {
      begin(response);
      cut = () => response.destroy();
    };
    expect(await read(never, undefined, () => cut())).toMatchObject({
      parts: ['first\n'],
      error: { code: 'cluster_unavailable' },
    });
    expect(forgotten).toBe(1);
    answer = begin;
    expect(await read(never, 3_000)).toMatchObject({
      parts: ['first\n'],
      error: { code: 'cluster_unavailable', detail: expect.stringMatching(/no end within 3 s$/) },
    });
    expect(forgotten).toBe(2);
  });
});

describe('where connections are few', () => {
  test('a request that waits for one gives up in its time', async () => {
    const { port } = server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const narrow = createClusterClient({
      read: async () => ({ server: new URL(`http://127.0.0.1:${port}`), options: { agent } as RequestOptions }),
      forget: () => undefined,
    });
    answer = begin;
    const stop = new AbortController();
    const first = (await narrow.open('/log', {}, stop.signal))[Symbol.asyncIterator]();
    const late = await Promise.allSettled([
      narrow.ask({ method: 'GET', path: '/jobs' }),
      narrow.open('/other', {}, never),
    ]);
    expect(late.map((one) => one.status === 'rejected' && String(one.reason.detail))).toEqual([
      'GET /jobs: no answer within 8 s',
      'GET /other: no answer within 5 s',
    ]);
    const other = new AbortController();
    const called = narrow.open('/third', {}, other.signal);
    other.abort(new Error('not wanted any more'));
    await expect(called).rejects.toThrow('not wanted any more');
    stop.abort();
    await first.return?.();
    agent.destroy();
  });

  test('answers that go on take none from others', async () => {
    const { port } = server.address() as AddressInfo;
    const kubeconfig = join(await mkdtemp(join(tmpdir(), 'muster-kubeconfig-')), 'config');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    const real = createClusterClient(openClusterAccess(kubeconfig));
    answer = begin;
    const stop = new AbortController();
    await Promise.all(Array.from({ length: 40 }, () => real.open('/log', {}, stop.signal)));
    answer = (response) => void response.end('{}');
    expect(await real.ask({ method: 'GET', path: '/jobs' })).toEqual({ status: 200, body: {} });
    stop.abort();
    await rm(dirname(kubeconfig), { recursive: true });
  });
});

test('the time to find the way to the cluster, which loads a large library, is none of its time to answer', async () => {
  const { port } = server.address() as AddressInfo;
  const found = Promise.withResolvers<void>();
  const slow = createClusterClient({
    read: async () => {
      await found.promise;
      return { server: new URL(`http://127.0.0.1:${port}`), options: {} };
    },
    forget: () => undefined,
  });
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  try {
    answer = (response) => void response.end('{}');
    const asked = slow.ask({ method: 'GET', path: '/jobs' });
    const opened = slow.open('/log', {}, never);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(timeout).not.toHaveBeenCalled();
    found.resolve();
    expect(await asked).toEqual({ status: 200, body: {} });
    for await (const _chunk of await opened);
  } finally {
    timeout.mockRestore();
    jest.useRealTimers();
  }
});

test('requests that come together read the kubeconfig once, and share their connections', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-kubeconfig-'));
  const kubeconfig = join(folder, 'config');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  const access = openClusterAccess(kubeconfig);
  const [first, ...others] = await Promise.all(Array.from({ length: 40 }, () => access.read()));
  expect(others.every((one) => one === first)).toBe(true);
  access.forget();
  expect(await access.read()).not.toBe(first);
  await rm(folder, { recursive: true });
});

test('a watch of what the cluster has forgotten is to be read anew, whether it says so at once or in the stream', async () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  const watch = () =>
    watchOnce(
      client,
      { path: '/jobs', labelSelector: '', version: '1' },
      () => {},
      () => {},
      never,
    );
  answer = (response) => void response.writeHead(410).end(JSON.stringify(gone));
  expect(await watch()).toBe('relist');
  answer = (response) => void response.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`);
  expect(await watch()).toBe('relist');
  expect(forgotten).toBe(0);
  answer = (response) => void response.writeHead(500).end('{}');
  await expect(watch()).rejects.toMatchObject({ code: 'cluster_unavailable' });
});

test('a watch that says nothing for too long goes on anew from where it is, and one that speaks is not broken off', async () => {
  const bookmark = (resourceVersion: string) =>
    `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })}\n`;
  const told: string[] = [];
  const watch = (signal = never) =>
    watchOnce(
      client,
      { path: '/jobs', labelSelector: '', version: '1', silentMs: 400 },
      () => {},
      (version) => void told.push(version),
      signal,
    );
  const untilTold = async (count: number) => {
    for (let looks = 0; told.length < count; looks += 1) {
      if (looks === LOOKS) throw new Error(`${told.length} bookmarks of ${count} were told`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    answer = (response) => void response.writeHead(200).write(bookmark('7'));
    const silent = watch();
    await untilTold(1);
    await jest.advanceTimersByTimeAsync(400);
    expect(await silent).toBe('resume');
    const opened = Promise.withResolvers<ServerResponse>();
    answer = (response) => opened.resolve(response.writeHead(200));
    const speaking = watch();
    const response = await opened.promise;
    for (let count = 1; count <= 8; count += 1) {
      response.write(bookmark(`${10 + count}`));
      await untilTold(1 + count);
      await jest.advanceTimersByTimeAsync(300);
    }
    response.end();
    expect(await speaking).toBe('resume');
    expect(told).toHaveLength(9);
  } finally {
    jest.useRealTimers();
  }
  answer = (response) => void response.writeHead(200).write(bookmark('30'));
  await expect(watch(AbortSignal.timeout(100))).rejects.toThrow();
});
