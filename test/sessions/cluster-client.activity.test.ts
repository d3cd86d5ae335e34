import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ClusterClient, createClusterClient } from '../../drivers/kubernetes-runner/cluster-client.ts';
import { watchOnce } from '../../drivers/kubernetes-runner/watch-stream.ts';

let server: Server;
let client: ClusterClient;
/** How often the way to the cluster was given up. */
let forgotten: number;
let answer: (response: ServerResponse) => void;
const never = new AbortController().signal;

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

/** Reads to the end; what was read, and what it ended with. */
async function read(signal: AbortSignal, lastsMs?: number) {
  const parts: string[] = [];
  try {
    for await (const chunk of await client.open('/log', {}, signal, lastsMs)) parts.push(chunk.toString());
    return { parts, error: null };
  } catch (error) {
    return { parts, error };
  }
}

const begin = (response: ServerResponse) => void response.writeHead(200).write('first\n');

describe('an answer that goes on', () => {
  test('is ended by whoever reads it without a word against the way to the cluster', async () => {
    const stop = new AbortController();
    answer = (response) => {
      begin(response);
      setTimeout(() => stop.abort(), 50);
    };
    expect(await read(stop.signal)).toMatchObject({ parts: ['first\n'], error: { code: 'cluster_unavailable' } });
    expect(forgotten).toBe(0);
  });

  test('that was cut, or goes on for longer than it may, tells of a way that is dead', async () => {
    answer = (response) => {
      begin(response);
      setTimeout(() => response.destroy(), 50);
    };
    expect(await read(never)).toMatchObject({ parts: ['first\n'], error: { code: 'cluster_unavailable' } });
    expect(forgotten).toBe(1);
    answer = begin;
    expect(await read(never, 200)).toMatchObject({
      parts: ['first\n'],
      error: { code: 'cluster_unavailable', detail: expect.stringMatching(/no end within 0.2 s$/) },
    });
    expect(forgotten).toBe(2);
  });
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
