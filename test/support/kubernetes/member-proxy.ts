/** A way to a member cluster by TLS, on which single calls meet faults; it has a token of its own, which can be revoked. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as rest } from 'node:timers/promises';
import { selfSigned } from '../fakes/self-signed.ts';
import { freePort } from '../free-port.ts';

export interface MemberCall {
  method: string;
  path: string;
}

/** What a call meets: an answer in place of the cluster's; a connection that breaks before or behind its work; an answer that is late, or held. */
export type MemberFault =
  | { answer: number; reason: string; message?: string; retryAfter?: number }
  | { reset: 'before' | 'after' }
  | { lateMs: number }
  | { until: Promise<void> };

export interface MemberProxy {
  /** A kubeconfig that leads through it, with the token of now. */
  kubeconfig(): string;
  /** What calls meet from now on; undefined: nothing. */
  fault(of: (call: MemberCall) => MemberFault | undefined): void;
  /** Calls that have changed something, or were to: `METHOD path`. */
  readonly changes: string[];
  /** Revokes the token; `kubeconfig` has a new one. */
  revoke(): void;
  /** Ends all connections and takes no new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Asks the cluster itself, past all faults, as an administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ask(method: string, path: string, body?: unknown, type?: string): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

/** Opens it in front of the cluster of a kubeconfig with certificates. */
export async function openMemberProxy(kubeconfigPath: string): Promise<MemberProxy> {
  const config = JSON.parse(await readFile(kubeconfigPath, 'utf8')) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error('the kubeconfig names no cluster');
  const target = new URL(cluster.server);
  const pem = (data: string) => Buffer.from(data, 'base64');
  const agent = new Agent({
    ...{ keepAlive: true, ca: pem(cluster['certificate-authority-data']) },
    ...{ cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) },
  });
  const { key, cert } = selfSigned();
  const sockets = new Set<Duplex>();
  const changes: string[] = [];
  let token = randomBytes(12).toString('hex');
  let faultOf: (call: MemberCall) => MemberFault | undefined = () => undefined;
  let server: Server | null = null;

  const pass = async (method: string, path: string, headers: RequestOptions['headers'], body: Buffer) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const options = { agent, host: target.hostname, port: target.port, method, path, headers };
    const outgoing = httpsRequest(options, resolve).on('error', reject);
    outgoing.end(body);
    return { answer: await promise, end: () => outgoing.destroy() };
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = incoming;
    const body = await bytesOf(incoming);
    const path = url.split('?')[0] ?? '';
    if (method !== 'GET') changes.push(`${method} ${path}`);
    if (incoming.headers.authorization !== `Bearer ${token}`)
      return refuse(response, { answer: 401, reason: 'Unauthorized' });
    const fault = faultOf({ method, path }) ?? { lateMs: 0 };
    if ('answer' in fault) return refuse(response, fault);
    if ('reset' in fault && fault.reset === 'before') return void incoming.socket.destroy();
    if ('until' in fault) await fault.until;
    if ('lateMs' in fault && fault.lateMs > 0) await rest(fault.lateMs, undefined, { ref: false });
    // Who has asked has given up: nothing arrives late.
    if (response.destroyed) return;
    const { accept = 'application/json', 'content-type': type } = incoming.headers;
    const headers = { accept, ...(type === undefined ? {} : { 'content-type': type, 'content-length': body.length }) };
    const { answer, end } = await pass(method, url, headers, body);
    response.on('close', end);
    if ('reset' in fault) {
      await bytesOf(answer);
      return void incoming.socket.destroy();
    }
    response.writeHead(answer.statusCode ?? 502, {
      'content-type': answer.headers['content-type'] ?? 'application/json',
    });
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  };

  const listen = async (port: number): Promise<number> => {
    const opened = createServer({ key, cert }, (incoming, response) => {
      serve(incoming, response).catch(() => response.destroy());
    });
    server = opened;
    opened.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    await once(opened.listen(port, '127.0.0.1'), 'listening');
    return (opened.address() as AddressInfo).port;
  };
  // It comes back at the port that it had: no other program may take that port meanwhile.
  const port = await listen(await freePort());
  const cut = async () => {
    const closing = server;
    server = null;
    if (closing === null) return;
    const closed = once(closing, 'close');
    closing.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    changes,
    kubeconfig: () =>
      JSON.stringify(leadingTo(`https://127.0.0.1:${port}`, Buffer.from(cert).toString('base64'), token)),
    fault: (of) => {
      faultOf = of;
    },
    revoke: () => {
      token = randomBytes(12).toString('hex');
    },
    cut,
    mend: async () => {
      if (server === null) await listen(port);
    },
    ask: async (method, path, body, type = 'application/json') => {
      const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
      const headers = { accept: 'application/json', 'content-type': type, 'content-length': bytes.length };
      const { answer } = await pass(method, path, headers, bytes);
      const text = (await bytesOf(answer)).toString('utf8');
      return { status: answer.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text };
    },
    close: async () => {
      await cut();
      agent.destroy();
    },
  };
}

function refuse(
  response: ServerResponse,
  { answer, reason, message = '', retryAfter }: Extract<MemberFault, { answer: number }>,
): void {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code: answer };
  const after = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  response.writeHead(answer, { 'content-type': 'application/json', ...after }).end(JSON.stringify(status));
}

function leadingTo(server: string, authority: string, token: string): object {
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'member' },
    clusters: [{ name: 'member', cluster: { server, 'certificate-authority-data': authority } }],
    contexts: [{ name: 'member', context: { cluster: 'member', user: 'muster' } }],
    users: [{ name: 'muster', user: { token } }],
  };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
