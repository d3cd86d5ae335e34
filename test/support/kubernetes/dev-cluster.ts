import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { eventually } from '../eventually.ts';
import { clusterCommand } from './cluster-command.ts';
import { openClusterReads } from './cluster-reads.ts';

const ENDING_LIMIT_MS = 150_000;

/** A part of the cluster that can be killed. */
export type ClusterPart =
  | 'etcd'
  | 'apiserver'
  | 'controller-manager'
  | 'scheduler'
  | 'containerd'
  | 'kubelet'
  | 'proxy'
  | 'dns';

/** Path of an administrator's kubeconfig. */
export function kubeconfigPath(): string {
  return setting('MUSTER_TEST_CLUSTER');
}

/** Address at which pods reach this machine: a server of a test has to listen there. */
export function hostAddress(): string {
  const address = process.env.MUSTER_TEST_CLUSTER_HOST ?? '';
  if (address === '') {
    throw new Error(
      'MUSTER_TEST_CLUSTER_HOST has to name the address at which pods of this cluster reach this machine',
    );
  }
  return address;
}

/** Name of an image of this checkout in the cluster, by its short name: aee, util ... */
export function imageName(short: string): string {
  const images = JSON.parse(setting('MUSTER_TEST_IMAGES')) as Record<string, string>;
  const name = images[short];
  if (name === undefined) throw new Error(`there is no image ${short}; images: ${Object.keys(images).join(', ')}`);
  return name;
}

/** Why parts of the cluster may not be killed here; null when they may. */
export function breakingRefused(): string | null {
  const { MUSTER_TEST_CLUSTER_OWNED: owned, MUSTER_TEST_BREAK_CLUSTER: allowed } = process.env;
  if (owned === '1' || allowed === '1') return null;
  return 'the cluster was up before, so others may use it; MUSTER_TEST_BREAK_CLUSTER=1 allows to kill its parts';
}

/** Why the whole cluster may not be taken down here; null when it may. */
export function takingDownRefused(): string | null {
  return process.env.MUSTER_TEST_CLUSTER_OWNED === '1' ? null : 'the cluster was up before, so it stays up';
}

/** Runs kubectl; answers what it prints. `input` goes to its stdin. */
export function kubectl(args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(setting('MUSTER_TEST_KUBECTL'), ['--kubeconfig', kubeconfigPath(), ...args]);
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err.trim()}`));
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** A namespace of one test file. */
export interface TestNamespace {
  name: string;
  /** kubectl in this namespace. */
  kubectl(args: string[], input?: string): Promise<string>;
  /** An object by its path in the namespace (`pods/NAME`), or those of a kind (`jobs?labelSelector=...`); null: there is none. */
  read<T>(path: string): Promise<T | null>;
  /** Names of all objects of these kinds. */
  names(...kinds: string[]): Promise<string[]>;
  /** Creates or changes objects. */
  apply(...objects: object[]): Promise<void>;
  /** Removes it with everything in it, finalizers or not, and waits until it is gone. */
  remove(): Promise<void>;
  /** Ends the reading of one that is gone by other ways. */
  close(): Promise<void>;
}

interface Listed {
  items: { metadata: { name: string; finalizers?: string[]; deletionTimestamp?: string } }[];
}

/** Makes a namespace; pods can start in it when this returns. */
export async function makeNamespace(prefix = 'muster-test'): Promise<TestNamespace> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  const inNamespace = (args: string[], input?: string) => kubectl(['--namespace', name, ...args], input);
  const cluster = await openClusterReads(setting('MUSTER_TEST_KUBECTL'), kubeconfigPath());
  const namespace: TestNamespace = {
    name,
    kubectl: inNamespace,
    read: (path) => cluster.read(`${/^jobs\b/.test(path) ? '/apis/batch/v1' : '/api/v1'}/namespaces/${name}/${path}`),
    names: async (...kinds) => {
      const lists = await Promise.all(kinds.map((kind) => listOf(namespace, kind)));
      return lists.flatMap(({ items }) => items).map(({ metadata }) => metadata.name);
    },
    apply: async (...objects) => {
      await inNamespace(
        ['apply', '--filename', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      );
    },
    remove: async () => {
      await kubectl(['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
      await eventually(
        `the namespace ${name} is gone`,
        async () => {
          await dropFinalizers(namespace);
          return (await cluster.read(`/api/v1/namespaces/${name}`)) === null;
        },
        ENDING_LIMIT_MS,
      );
      await cluster.close();
    },
    close: cluster.close,
  };
  await kubectl(['create', 'namespace', name]);
  await eventually('the service account of the namespace is there', () => namespace.read('serviceaccounts/default'));
  return namespace;
}

/** Those of a kind; a list that is empty is there, so that a kind of no such name is an error. */
async function listOf({ read }: TestNamespace, kind: string): Promise<Listed> {
  const list = await read<Listed>(kind);
  if (list === null) throw new Error(`the cluster knows no ${kind}`);
  return list;
}

/** Of Jobs and pods that are being deleted; without it they would keep the namespace for ever. */
async function dropFinalizers(namespace: TestNamespace): Promise<void> {
  for (const kind of ['jobs', 'pods']) {
    const { items } = await listOf(namespace, kind);
    for (const { metadata } of items) {
      if (metadata.deletionTimestamp === undefined || metadata.finalizers === undefined) continue;
      const patch = ['--type', 'merge', '--patch', '{"metadata":{"finalizers":null}}'];
      await namespace.kubectl(['patch', kind, metadata.name, ...patch]).catch(() => {});
    }
  }
}

/** kill -9 of a part, which stays away until `startParts`. */
export async function killPart(part: ClusterPart): Promise<void> {
  const refusal = breakingRefused();
  if (refusal !== null) throw new Error(refusal);
  await clusterCommand('kill', part);
}

/** Starts every part that is away; the node is ready when this returns. */
export async function startParts(): Promise<void> {
  await clusterCommand('up');
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: the test runs in the suite "cluster" alone`);
  return value;
}
