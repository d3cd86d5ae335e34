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

/** What is installed: a chart, and the images of the same release by short name. */
export interface Release {
  chart: string;
  images: Record<string, string>;
}

/** Muster as the chart installs it, with two replicas of everything. */
export interface InstalledChart {
  /** A request to the API by its Service, as the first administrator. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Manifest }>;
  /** Names of the ready pods of a part. */
  pods(part: string): Promise<string[]>;
  /** Deletes a pod by force, and waits until another one stands in for it. */
  kill(part: string, pod: string): Promise<void>;
  /** Creates a session, also while a replica is away. */
  start(name: string, configuration: string, more?: object): Promise<void>;
  /** Waits until a session is complete; answers its record. */
  untilComplete(name: string, ms?: number): Promise<Manifest>;
  /** Goes to another release; everything is ready when this returns. */
  upgrade(release: Release): Promise<void>;
  /** Goes back to the release before. */
  rollBack(): Promise<void>;
  uninstall(): Promise<void>;
}

export interface InstallOptions {
  namespace: TestNamespace;
  servers: ServersForPods;
  /** Folder for the file with the values. */
  dir: string;
  values?: object;
  /** Default: this checkout's. */
  release?: Release;
}

/** This checkout's chart and images. */
export function ownRelease(): Release {
  const images = ['muster', 'aee', 'util'].map((short) => [short, imageName(short)]);
  return { chart: CHART, images: Object.fromEntries(images) };
}

/** Installs a release; everything is ready when this returns. */
export async function installChart({
  namespace,
  servers,
  dir,
  values = {},
  release = ownRelease(),
}: InstallOptions): Promise<InstalledChart> {
  const token = newToken('api');
  const { databaseUrl: url } = servers;
  await namespace.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-database' }, stringData: { url } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-admin' }, stringData: { token } },
  );
  const where = ['--namespace', namespace.name, '--kubeconfig', kubeconfigPath(), '--wait', '--timeout', TIMEOUT];
  const bring = async (command: string, wanted: Release) => {
    const file = await writeValues(dir, { ...valuesFor(servers, wanted), ...values });
    await helm([command, 'muster', wanted.chart, '--values', file, ...where]);
  };
  await bring('install', release);
  const address = await namespace.kubectl(['get', 'service', 'muster', '--output', 'jsonpath={.spec.clusterIP}']);
  const call: InstalledChart['call'] = (method, path, body) => ask({ address, token, method, path, body });
  const pods: InstalledChart['pods'] = async (part) => {
    const selector = `app.kubernetes.io/component=${part},app.kubernetes.io/part-of=muster`;
    const { items } = JSON.parse(await namespace.kubectl(['get', 'pods', '--selector', selector, '--output', 'json']));
    return items
      .filter(({ metadata, status }: Manifest) => metadata.deletionTimestamp === undefined && isReady(status))
      .map(({ metadata }: Manifest) => metadata.name);
  };
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
    upgrade: (wanted) => bring('upgrade', wanted),
    rollBack: async () => void (await helm(['rollback', 'muster', ...where])),
    uninstall: async () => void (await helm(['uninstall', 'muster', ...where])),
  };
}

/** A file for `--values`. */
export async function writeValues(dir: string, values: object): Promise<string> {
  const file = join(dir, `values-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(values));
  return file;
}

/** What a site would say, with small pods. */
export function valuesFor({ temporalAddress: address }: ServersForPods, { images }: Release) {
  const resources = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '1Gi' } };
  return {
    database: { existingSecret: 'muster-database' },
    temporal: { address, namespace: 'muster-site' },
    access: { adminToken: { existingSecret: 'muster-admin' } },
    images: {
      ...Object.fromEntries(Object.entries(images).map(([short, name]) => [short, imageParts(name)])),
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
