import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { type HoldRequests, openRequestGate } from '../fakes/held-requests.ts';
import { kubeconfigPath } from './dev-cluster.ts';

/** A request on its way to the cluster. */
export interface GateRequest {
  method: string;
  path: string;
  /** JSON of a request that changes something. */
  // biome-ignore lint/suspicious/noExplicitAny: requests of every shape
  body: any;
}

/** A way to the cluster on which single requests can be kept back, to do something at exactly that moment. */
export interface ClusterGate {
  /** Path of a kubeconfig that leads through it. */
  kubeconfig: string;
  hold: HoldRequests<GateRequest>;
  close(): Promise<void>;
}

/** Opens it, with the rights of an administrator. */
export async function openClusterGate(): Promise<ClusterGate> {
  const access = openClusterAccess(kubeconfigPath());
  const { hold, pass } = openRequestGate<GateRequest>();

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(incoming);
    const { method = 'GET', url = '/' } = incoming;
    const request = { method, path: new URL(url, 'http://gate').pathname, body: text === '' ? null : JSON.parse(text) };
    if (!(await pass('before', request, response))) return;
    const answer = await forward(incoming, text, response);
    if (method !== 'GET') {
      const whole = await textOf(answer);
      if (!(await pass('after', request, response))) return;
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' }).end(whole);
      return;
    }
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  };

  const forward = async (
    { method, url, headers }: IncomingMessage,
    text: string,
    response: ServerResponse,
  ): Promise<IncomingMessage> => {
    const { server, options } = await access.read();
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { accept = '*/*', 'content-type': type } = headers;
    const outgoing = httpsRequest(
      {
        ...options,
        host: server.hostname,
        port: server.port || 443,
        method,
        path: url,
        headers: {
          ...options.headers,
          accept,
          ...(text === '' ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
        },
      },
      resolve,
    );
    outgoing.on('error', reject);
    response.on('close', () => outgoing.destroy());
    outgoing.end(text === '' ? undefined : text);
    return await promise;
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-gate-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(leadingTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)));
  return {
    kubeconfig,
    hold,
    close: async () => {
      server.close();
      server.closeAllConnections();
      access.forget();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function leadingTo(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'gate',
    clusters: [{ name: 'gate', cluster: { server, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'gate', context: { cluster: 'gate', user: 'gate' } }],
    users: [{ name: 'gate', user: {} }],
  };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
