import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { tryToHold } from '../stack/machine-lock.ts';

const ROOT = dirname(dirname(dirname(import.meta.dirname)));
const SCRIPT = join(ROOT, 'deploy', 'dev-cluster', 'cluster.sh');
const BOOTSTRAP = join(ROOT, 'bootstrap', 'run.mjs');

/** Who took the cluster up, as its status says it: what tests started, tests take down. */
export const FOR_TESTS = 'tests';

/** Held by the tests that have started a cluster. */
export const CLUSTER_LOCK = 'cluster';

export interface ClusterStatus {
  /** existing: that of a kubeconfig the user named; kind: containers; own: processes on this machine. */
  provider: 'existing' | 'kind' | 'own';
  up: boolean;
  kubeconfig: string;
  /** Address at which pods reach this machine; empty when no setting says it. */
  host: string;
  /** `tests`, or empty. */
  for: string;
}

/** Runs a command of deploy/dev-cluster; answers what it prints. What it says beside that goes to the terminal. */
export async function clusterCommand(...args: string[]): Promise<string> {
  const { status, out } = await outcome('bash', [SCRIPT, ...args]);
  if (status !== 0) throw new Error(`cluster.sh ${args.join(' ')} ended with ${status}`);
  return out.trim();
}

/** What is missing on this machine for a cluster and the images in it; empty when nothing is. */
export async function missingForCluster(): Promise<string[]> {
  const { out } = await outcome('bash', [SCRIPT, 'check']);
  const builder = (await import(join(ROOT, 'bootstrap', 'image-builder.mjs'))) as { missingForImages(): string[] };
  const missing = out.split('\n').filter((line) => line !== '');
  if (!missing.some((line) => line.startsWith('Go')) && !(await hasClients())) {
    missing.push('Go >= 1.26 to build kubectl and helm (package: golang-go)');
  }
  return [...missing, ...builder.missingForImages()];
}

/** Whether what tests talk to a cluster with is built, or can be. */
async function hasClients(): Promise<boolean> {
  const programs = (await import(join(ROOT, 'bootstrap', 'cluster-programs.mjs'))) as {
    CLUSTER_CLIENTS: string[];
    missingClusterPrograms(names: string[]): string[];
    canBuildClusterPrograms(): boolean;
  };
  return programs.missingClusterPrograms(programs.CLUSTER_CLIENTS).length === 0 || programs.canBuildClusterPrograms();
}

/** Which cluster there is, and whether it is up. */
export async function clusterStatus(): Promise<ClusterStatus> {
  const { out } = await outcome('bash', [SCRIPT, 'status']);
  const values = new Map(out.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
  const value = (name: string) => values.get(name) ?? '';
  return {
    provider: value('provider') as ClusterStatus['provider'],
    up: value('up') === 'yes',
    kubeconfig: value('kubeconfig'),
    host: value('host'),
    for: value('for'),
  };
}

/** Takes a cluster down that tests have started and left, because they were interrupted. */
export async function takeDownWhatIsLeft(): Promise<void> {
  const release = await tryToHold(CLUSTER_LOCK);
  // The tests of another checkout have it, or will take it over.
  if (release === undefined) return;
  if ((await clusterStatus()).for === FOR_TESTS) await clusterCommand('down');
  await release();
}

/** Runs a command of the bootstrap, which builds what is missing; answers what it prints. */
export async function bootstrapCommand(...args: string[]): Promise<string> {
  const { status, out } = await outcome(process.execPath, [BOOTSTRAP, ...args]);
  if (status !== 0) throw new Error(`bootstrap ${args.join(' ')} ended with ${status}`);
  return out.trim();
}

/** An image of a checkout: its name as a pod gives it, and the archive that has it. */
export interface BuiltImage {
  name: string;
  archive: string;
}

/** Loads images into the cluster; answers their names. A cluster of the user's has to get them from where it gets its images. */
export async function loadImages(
  provider: ClusterStatus['provider'],
  images: Record<string, BuiltImage>,
): Promise<Record<string, string>> {
  for (const { name, archive } of Object.values(images)) {
    if (provider === 'existing') process.stderr.write(`the cluster needs the image ${name}: ${archive}\n`);
    else await clusterCommand('image', archive, name);
  }
  return Object.fromEntries(Object.entries(images).map(([short, { name }]) => [short, name]));
}

function outcome(file: string, args: string[]): Promise<{ status: number; out: string }> {
  return new Promise((resolve, reject) => {
    // A cluster that is to be kept is one like any other from the start.
    const kept = process.env.MUSTER_TEST_KEEP_CLUSTER === '1';
    const env = { ...process.env, MUSTER_DEV_CLUSTER_FOR: kept ? '' : FOR_TESTS };
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 2] });
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    child.on('error', reject);
    child.on('exit', (code) => resolve({ status: code ?? 1, out }));
  });
}
