import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';

const run = promisify(execFile);
const BUILD_LIMIT_MS = 60 * 60_000;
/** Of a start on a machine that is busy. */
const START_LIMIT_MS = 300_000;
const CACHE = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');

/** A real API server of Kubernetes with its own store and no node. */
export interface KubernetesApi {
  /** Path of a kubeconfig of an administrator. */
  kubeconfig: string;
  /** kill -9 of the API server. */
  kill(): Promise<void>;
  /** Begins it again at its address; ready when this returns. */
  restart(): Promise<void>;
  /** kill -9 of etcd. */
  killStore(): Promise<void>;
  /** Begins etcd again at its address, with what it has stored. */
  restartStore(): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAMS = ['etcd', 'kube-apiserver'];
/** Begins the name of the folder of each of these servers; it stands in the command lines of both programs. */
export const SINGLE_API_SERVER = 'muster-kubernetes-';
const folder = await builtPrograms();

/**
 * Folder of etcd and the API server. `npm test` names it while they may still be under way: the file that needs them waits
 * for them, while other files run.
 */
async function builtPrograms(): Promise<string | undefined> {
  const isWhole = (path: string) => PROGRAMS.every((name) => existsSync(join(path, name)));
  const named = process.env.MUSTER_TEST_KUBERNETES_DIR;
  if (named === undefined) {
    const cached = existsSync(CACHE) ? readdirSync(CACHE).filter((name) => /^dev-cluster-[0-9.]+-/.test(name)) : [];
    return cached.map((name) => join(CACHE, name)).find(isWhole);
  }
  const failure = join(named, 'failure.txt');
  await eventually(
    'etcd and the API server of Kubernetes are built',
    async () => {
      if (isWhole(named)) return true;
      if (existsSync(failure)) throw new Error(await readFile(failure, 'utf8'));
      return false;
    },
    BUILD_LIMIT_MS,
  );
  return named;
}

/** Why no API server can be started here; null when one can. */
export function kubernetesMissing(): string | null {
  return folder === undefined ? 'the API server of Kubernetes is not built: run through "npm test"' : null;
}

/** Starts etcd and an API server on ports and in a folder of their own; ready when this returns. */
export async function startKubernetesApi(): Promise<KubernetesApi> {
  const dir = await mkdtemp(join(tmpdir(), SINGLE_API_SERVER));
  await makeCertificates(dir);
  const store = await startStore(dir);
  const server = await startServer({ dir, store: store.url, prefix: '/registry', kubeconfig: join(dir, 'kubeconfig') });
  return {
    kubeconfig: server.kubeconfig,
    kill: server.stop,
    restart: server.start,
    killStore: store.stop,
    restartStore: store.start,
    stop: async () => {
      await server.stop();
      await store.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A program that can be killed, and begins again at its address. */
interface Restartable {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts etcd with its data in a folder. */
export async function startStore(dir: string): Promise<Restartable & { url: string }> {
  const [clients, peers] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  const args = [
    ...['--data-dir', join(dir, 'etcd'), '--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ...['--unsafe-no-fsync', '--log-level', 'error'],
  ];
  const answers = async () => (await fetch(`${url}/health`).catch(() => null))?.ok === true;
  return { url, ...(await startAgain('etcd', args, () => eventually('etcd answers', answers, START_LIMIT_MS))) };
}

/** Starts a program that begins again with the same words. `ready`: waits until it is. */
async function startAgain(name: string, args: string[], ready: () => Promise<unknown>): Promise<Restartable> {
  let child: ChildProcess;
  const start = async () => {
    child = startProgram(name, args);
    await ready();
  };
  await start();
  return { start, stop: () => ended(child) };
}

export interface ServerPlace {
  /** Folder of the certificates. */
  dir: string;
  /** URL of etcd, and what the keys of this server begin with there. */
  store: string;
  prefix: string;
  /** Path of the kubeconfig that is written. */
  kubeconfig: string;
}

/** Starts an API server; ready when this returns. */
export async function startServer(place: ServerPlace): Promise<Restartable & { kubeconfig: string }> {
  const at = (name: string) => join(place.dir, name);
  const port = await freePort();
  const args = [
    ...['--etcd-servers', place.store, '--etcd-prefix', place.prefix],
    ...['--bind-address', '127.0.0.1', '--secure-port', String(port)],
    // There are no nodes: no endpoints to publish, no controller that makes service accounts.
    ...['--advertise-address', '10.0.0.1', '--endpoint-reconciler-type', 'none'],
    ...['--disable-admission-plugins', 'ServiceAccount', '--authorization-mode', 'RBAC'],
    ...['--tls-cert-file', at('server.crt'), '--tls-private-key-file', at('server.key')],
    ...['--client-ca-file', at('ca.crt'), '--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc'],
    ...['--service-account-key-file', at('server.key'), '--service-account-signing-key-file', at('server.key')],
  ];
  const [ca, cert, key] = await Promise.all(['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(at(name))));
  const ready = () =>
    new Promise<boolean>((resolve) => {
      get({ host: '127.0.0.1', port, path: '/readyz', ca, cert, key }, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      }).on('error', () => resolve(false));
    });
  const server = await startAgain('kube-apiserver', args, () =>
    eventually('the API server of Kubernetes is ready', ready, START_LIMIT_MS),
  );
  await writeFile(place.kubeconfig, kubeconfig(port, { ca, cert, key }), { mode: 0o600 });
  return { kubeconfig: place.kubeconfig, ...server };
}

/** Starts one of the programs of Kubernetes. Throws where they are not built. */
export function startProgram(name: string, args: string[]): ChildProcess {
  if (folder === undefined) throw new Error('no API server of Kubernetes');
  return spawn(join(folder, name), args, { stdio: 'ignore' });
}

/** Ends a program with kill -9. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** A CA, the server's certificate and that of an administrator. */
export async function makeCertificates(dir: string): Promise<void> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: dir });
  const pair = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  await openssl('req', '-x509', ...pair('ca'), '-out', 'ca.crt', '-subj', '/CN=muster-test', '-days', '2');
  await writeFile(join(dir, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  for (const [name, subject] of [
    ['server', '/CN=kube-apiserver'],
    ['admin', '/O=system:masters/CN=admin'],
  ] as const) {
    await openssl('req', ...pair(name), '-out', `${name}.csr`, '-subj', subject);
    const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.crt`);
  }
}

function kubeconfig(port: number, parts: Partial<Record<'ca' | 'cert' | 'key', Buffer | undefined>>): string {
  const data = (part: Buffer | undefined) => part?.toString('base64');
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': data(parts.ca) };
  const user = { 'client-certificate-data': data(parts.cert), 'client-key-data': data(parts.key) };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });
}
