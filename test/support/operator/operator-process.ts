/** An operator as a process of its own, beside a real API server, Postgres and Temporal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMALL_YOUNG_GENERATION } from '../../../deploy/stack/young-generation.ts';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { type ClusterClient, createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type KubernetesApi, startKubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { makeDatabase } from '../postgres/test-database.ts';
import { ROOT } from '../source-tree.ts';
import { processEnvironment } from '../stack/process-environment.ts';

export const GROUP = 'demo.io';
export const WIDGETS = `/apis/${GROUP}/v1/namespaces/default/widgets`;
const SCRIPTED = join(import.meta.dirname, 'scripted-runner.py');

export interface OperatorBench {
  api: KubernetesApi;
  client: ClusterClient;
  db: Db;
  /** Where its database is. */
  databaseUrl: string;
  home: string;
  /** Starts a process of the operator, and returns once it is ready. */
  start(options?: StartOptions): Promise<RunningOperator>;
  create(name: string, spec: object, more?: object): Promise<CustomResource>;
  /** Changes the spec of a widget by a merge patch. */
  change(name: string, spec: object): Promise<CustomResource>;
  read(name: string): Promise<CustomResource | null>;
  remove(name: string): Promise<void>;
  /** Waits for a condition of a widget. */
  condition(name: string, type: string, status: string): Promise<Conditions>;
  /** What the scripted runner has done. */
  calls(): Call[];
  close(): Promise<void>;
}

export interface StartOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Its data directory; default: the one of the bench. */
  data?: string;
}

export interface RunningOperator {
  process: ChildProcess;
  said(): string;
  /** Ends it in order; returns its exit status. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface Call {
  at: number;
  word: 'begin' | 'end';
  name: string;
  size: string;
  run: string;
  pid: number;
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  ansibleResult?: Record<string, unknown>;
}
export type Conditions = Condition[];

/** Opens a bench with the kind Widget; its playbook is done by the scripted runner. */
export async function openOperatorBench(entry: object = {}): Promise<OperatorBench> {
  const home = mkdtempSync(join(tmpdir(), 'muster-operator-'));
  const watch = { group: GROUP, version: 'v1', kind: 'Widget', playbook: 'playbook.yml', markUnsafe: true, ...entry };
  writeFileSync(join(home, 'watches.yaml'), JSON.stringify([watch]));
  writeFileSync(join(home, 'playbook.yml'), '- hosts: localhost\n  tasks: []\n');
  cpSync(SCRIPTED, join(home, 'ansible-runner'));
  const [api, database] = await Promise.all([startKubernetesApi(), makeDatabase()]);
  const client = createClusterClient(openClusterAccess(api.kubeconfig));
  const db = openDatabase({ url: database.url, name: 'operator-bench' });
  await makeKind(client, 'Widget').catch(async (error) => {
    await api.stop();
    throw error;
  });
  const running: RunningOperator[] = [];
  const at = (name: string) => `${WIDGETS}/${name}`;
  const read = async (name: string) => {
    const { status, body } = await client.ask<CustomResource>({ method: 'GET', path: at(name), expected: [404] });
    return status === 404 ? null : body;
  };
  return {
    api,
    client,
    db,
    databaseUrl: database.url,
    home,
    read,
    start: async ({ args = [], env = {}, data = join(home, '.data') } = {}) => {
      const port = await freePort();
      const started = spawn(
        process.execPath,
        [
          SMALL_YOUNG_GENERATION,
          join(ROOT, 'worker', 'operator.ts'),
          ...['--health-probe-bind-address', `127.0.0.1:${port}`, '--proxy-port', '0', '--metrics-bind-address', '0'],
          ...['--user-metrics-port', '0'],
          ...args,
        ],
        {
          cwd: home,
          env: {
            ...processEnvironment(),
            KUBECONFIG: api.kubeconfig,
            MUSTER_DATABASE_URL: database.url,
            MUSTER_TEMPORAL_ADDRESS: process.env.MUSTER_TEST_TEMPORAL_ADDRESS,
            MUSTER_DATA_DIR: data,
            MUSTER_ANSIBLE_RUNNER: join(home, 'ansible-runner'),
            ...env,
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let text = '';
      for (const stream of [started.stdout, started.stderr]) stream?.on('data', (piece) => (text += piece));
      const exited = once(started, 'exit');
      const operator: RunningOperator = {
        process: started,
        said: () => text,
        stop: async () => {
          started.kill('SIGTERM');
          await exited;
          return started.exitCode;
        },
        kill: async () => {
          started.kill('SIGKILL');
          await exited;
        },
      };
      running.push(operator);
      await eventually(
        'the operator is ready',
        async () => {
          if (started.exitCode !== null) throw new Error(`the operator has ended: ${text}`);
          return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
        },
        120_000,
        () => text.slice(-4_000),
      );
      return operator;
    },
    create: async (name, spec, more = {}) => {
      const body = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name, ...more }, spec };
      return (await client.ask<CustomResource>({ method: 'POST', path: WIDGETS, body })).body;
    },
    change: async (name, spec) => {
      const contentType = 'application/merge-patch+json';
      return (await client.ask<CustomResource>({ method: 'PATCH', path: at(name), body: { spec }, contentType })).body;
    },
    remove: async (name) => {
      await client.ask({ method: 'DELETE', path: at(name), expected: [404] });
    },
    condition: (name, type, status) =>
      eventually(
        `${name} has ${type}=${status}`,
        async () => {
          const list = conditionsOf(await read(name));
          return list.some((one) => one.type === type && one.status === status) ? list : null;
        },
        180_000,
        async () => ({ status: (await read(name))?.status, said: running.map(({ said }) => said().slice(-3_000)) }),
      ),
    calls: () => {
      const path = join(home, 'calls.log');
      const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
      return lines.map((line) => {
        const [time = '', word, name = '', size = '', run = '', pid = ''] = line.split(' ');
        return { at: Number(time), word: word === 'begin' ? 'begin' : 'end', name, size, run, pid: Number(pid) };
      });
    },
    close: async () => {
      for (const { process: started, kill } of running) if (started.exitCode === null) await kill();
      await db.destroy();
      await database.drop();
      await api.stop();
      // Runs outlive the operator, and may end only now.
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}

/** The conditions in the status of a resource. */
export function conditionsOf(resource: CustomResource | null): Conditions {
  const status = resource?.status as { conditions?: Conditions } | undefined;
  return status?.conditions ?? [];
}

/** Makes a kind with a status of its own, whose specs may hold anything, and waits until it is served. */
export async function makeKind(client: ClusterClient, kind: string): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: any, status: any } } };
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
  await client.ask({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body });
  await eventually(`${kind} is served`, async () => {
    const path = `/apis/${GROUP}/v1/namespaces/default/${plural}`;
    const { status } = await client.ask({ method: 'GET', path, expected: [404, 429] });
    return status === 200;
  });
}
