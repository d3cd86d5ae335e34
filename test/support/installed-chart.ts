import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { newToken } from '../../control/access/token-secret.ts';
import { SMALL } from './cluster-stack.ts';
import { imageName, kubeconfigPath, type TestNamespace } from './dev-cluster.ts';
import { eventually } from './eventually.ts';
import { CHART, helm, type Manifest } from './helm.ts';
import type { ServersForPods } from './servers-for-pods.ts';

const TIMEOUT = '8m';

/** Muster as the chart installs it, with two replicas of everything. */
export interface InstalledChart {
  /** A request to the API by its Service, as the first administrator. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Manifest }>;
  /** Names of the ready pods of a part. */
  pods(part: string): Promise<string[]>;
  /** Waits until a session is complete; answers its record. */
  untilComplete(name: string, ms?: number): Promise<Manifest>;
  upgrade(values: object): Promise<void>;
  uninstall(): Promise<void>;
}

export interface InstallOptions {
  namespace: TestNamespace;
  servers: ServersForPods;
  /** Folder for the file with the values. */
  dir: string;
  values?: object;
}

/** Installs this checkout's chart with this checkout's images; everything is ready when this returns. */
export async function installChart({ namespace, servers, dir, values = {} }: InstallOptions): Promise<InstalledChart> {
  const token = newToken('api');
  const { databaseUrl: url } = servers;
  await namespace.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-database' }, stringData: { url } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-admin' }, stringData: { token } },
  );
  const given = { ...valuesFor(servers), ...values };
  const run = async (command: string, wanted: object) => {
    const file = join(dir, `values-${randomUUID()}.json`);
    await writeFile(file, JSON.stringify(wanted));
    const where = ['--namespace', namespace.name, '--kubeconfig', kubeconfigPath()];
    await helm([command, 'muster', CHART, ...where, '--values', file, '--wait', '--timeout', TIMEOUT]);
  };
  await run('install', given);
  const address = await namespace.kubectl(['get', 'service', 'muster', '--output', 'jsonpath={.spec.clusterIP}']);
  const call: InstalledChart['call'] = (method, path, body) => ask({ address, token, method, path, body });
  return {
    call,
    pods: async (part) => {
      const selector = `app.kubernetes.io/component=${part},app.kubernetes.io/part-of=muster`;
      const { items } = JSON.parse(
        await namespace.kubectl(['get', 'pods', '--selector', selector, '--output', 'json']),
      );
      return items
        .filter(({ metadata, status }: Manifest) => metadata.deletionTimestamp === undefined && isReady(status))
        .map(({ metadata }: Manifest) => metadata.name);
    },
    untilComplete: async (name, ms = 180_000) => {
      let session: Manifest = {};
      await eventually(
        `session ${name} is complete`,
        async () => {
          // A replica that was killed a moment ago may still be asked.
          const answer = await call('GET', `/v3/sessions/${name}`).catch(() => null);
          session = answer?.body ?? {};
          return session.status?.session?.status === 'complete';
        },
        ms,
      );
      return session;
    },
    upgrade: (changed) => run('upgrade', { ...given, ...changed }),
    uninstall: async () => {
      await helm(['uninstall', 'muster', '--namespace', namespace.name, '--kubeconfig', kubeconfigPath(), '--wait']);
    },
  };
}

/** What a site would say, with small pods. */
export function valuesFor({ temporalAddress: address }: ServersForPods) {
  const resources = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '1Gi' } };
  return {
    database: { existingSecret: 'muster-database' },
    temporal: { address, namespace: 'muster-site' },
    access: { adminToken: { existingSecret: 'muster-admin' } },
    images: {
      ...Object.fromEntries(['muster', 'aee', 'util'].map((short) => [short, imageParts(imageName(short))])),
      pullPolicy: 'Never',
    },
    api: { resources },
    worker: { resources },
    runner: SMALL,
    uninstall: { patience: 30, resources },
    migrate: { resources },
  };
}

function imageParts(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':');
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}

function isReady({ conditions = [] }: Manifest): boolean {
  return conditions.some(({ type, status }: Manifest) => type === 'Ready' && status === 'True');
}

interface Question {
  address: string;
  token: string;
  method: string;
  path: string;
  body: unknown;
}

/** By the Service's address and name: nothing here resolves the names of a cluster. */
function ask({ address, token, method, path, body }: Question): Promise<{ status: number; body: Manifest }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Manifest }>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    host: 'muster',
    authorization: `Bearer ${token}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  const outgoing = request({ host: address, port: 8100, method, path, headers, timeout: 10_000 }, (answer) => {
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
