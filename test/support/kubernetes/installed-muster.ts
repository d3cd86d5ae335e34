import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { newToken } from '../../../control/access/token-secret.ts';
import { eventually } from '../eventually.ts';
import type { TestNamespace } from './dev-cluster.ts';
import type { Manifest } from './helm.ts';
import type { ServersForPods } from './servers-for-pods.ts';

/** An installation of Muster in a namespace of a cluster, with two replicas of everything. */
export interface InstalledMuster {
  /** A request to the API by its Service, as the first administrator unless `headers` say otherwise. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Manifest }>;
  /** Names of the ready pods of a part. */
  pods(part: string): Promise<string[]>;
  /** Deletes a pod by force, and waits until another one stands in for it. */
  kill(part: string, pod: string): Promise<void>;
  /** Creates a session, also while a replica is away. */
  start(name: string, configuration: string, more?: object): Promise<void>;
  /** Waits until a session is complete; answers its record. */
  untilComplete(name: string, ms?: number): Promise<Manifest>;
}

/** The Secrets that a site makes before it installs Muster; answers the token of the first administrator. */
export async function makeSiteSecrets(namespace: TestNamespace, servers: ServersForPods): Promise<string> {
  const token = newToken('api');
  const { databaseUrl: url } = servers;
  await namespace.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-database' }, stringData: { url } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-admin' }, stringData: { token } },
  );
  return token;
}

/** The installation in a namespace, which is there already; with `ca` (PEM) its API speaks TLS by a certificate of that authority. */
export async function openInstalled(namespace: TestNamespace, token: string, ca?: string): Promise<InstalledMuster> {
  const address = await namespace.kubectl(['get', 'service', 'muster', '--output', 'jsonpath={.spec.clusterIP}']);
  const tls = ca === undefined ? null : { ca, servername: `muster.${namespace.name}.svc` };
  const call: InstalledMuster['call'] = (method, path, body, headers = {}) =>
    ask({ address, token, tls, method, path, body, headers });
  const pods: InstalledMuster['pods'] = async (part) => {
    const selector = `app.kubernetes.io/component=${part},app.kubernetes.io/part-of=muster`;
    const listed = await namespace.read<{ items: Manifest[] }>(`pods?labelSelector=${selector}`);
    return (listed?.items ?? [])
      .filter(({ metadata, status }: Manifest) => metadata.deletionTimestamp === undefined && isReady(status))
      .map(({ metadata }: Manifest) => metadata.name);
  };
  await untilHealthy(call);
  return {
    call,
    pods,
    kill: async (part, pod) => {
      const count = (await pods(part)).length;
      await namespace.kubectl(['delete', 'pod', pod, '--force', '--grace-period=0', '--wait=false']);
      await eventually(
        `another pod stands in for ${pod}`,
        async () => {
          const ready = await pods(part);
          return ready.length === count && !ready.includes(pod);
        },
        120_000,
      );
    },
    start: async (name, configuration, more = {}) => {
      const body = { name, configuration_name: configuration, ...more };
      // Behind a Service a request may meet the replica that was just killed: its answer is lost, or there is none.
      await eventually(`session ${name} is taken`, async () => {
        const answer = await call('POST', '/v3/sessions', body).catch(() => null);
        return answer?.status === 201 || answer?.status === 409;
      });
    },
    untilComplete: (name, ms = 180_000) =>
      eventually(
        `session ${name} is complete`,
        async () => {
          const answer = await call('GET', `/v3/sessions/${name}`).catch(() => null);
          return answer?.body.status?.session?.status === 'complete' ? answer.body : null;
        },
        ms,
      ),
  };
}

/** What leads to its Service is made a moment after its pods are ready. Fails with what was answered last. */
async function untilHealthy(call: InstalledMuster['call']): Promise<void> {
  let last = '';
  const ask = async () => {
    const answer = await call('GET', '/healthz').catch((error: unknown) => ({ status: 0, body: String(error) }));
    last = JSON.stringify(answer);
    return answer.status === 200;
  };
  await eventually('the API answers', ask).catch((error) => {
    throw new Error(`${error.message}; last: ${last}`);
  });
}

function isReady({ conditions = [] }: Manifest): boolean {
  return conditions.some(({ type, status }: Manifest) => type === 'Ready' && status === 'True');
}

interface Question {
  address: string;
  token: string;
  tls: { ca: string; servername: string } | null;
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

/** By the Service's address and name: nothing here resolves the names of a cluster. */
function ask({
  address,
  token,
  tls,
  method,
  path,
  body,
  headers: more,
}: Question): Promise<{ status: number; body: Manifest }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Manifest }>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    host: 'muster',
    authorization: `Bearer ${token}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...more,
  };
  // A connection that stays would always lead to the same replica.
  const options = { host: address, port: 8100, method, path, headers, agent: false as const, timeout: 10_000 };
  const outgoing = tls === null ? plainRequest(options) : secureRequest({ ...options, ...tls });
  outgoing.on('response', (answer) => {
    const parts: Buffer[] = [];
    answer.on('data', (part) => parts.push(part));
    answer.on('error', reject);
    answer.on('end', () => {
      const whole = Buffer.concat(parts).toString();
      resolve({ status: answer.statusCode ?? 0, body: whole === '' ? {} : JSON.parse(whole) });
    });
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer`)));
  outgoing.on('error', reject);
  outgoing.end(text);
  return promise;
}
