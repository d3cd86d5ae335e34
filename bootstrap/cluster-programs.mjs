import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, run } from './commands.mjs';
import { checkFreeDisk } from './free-disk.mjs';
import { goEnvironment } from './go-build.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, CONTAINERD_VERSION, KUBERNETES_VERSION, ROOT } from './settings.mjs';
import { SetupError } from './setup-error.mjs';

/** The Go module that names the programs and all that goes into them, so that what they share is one version and compiled once. */
const MODULE = join(ROOT, 'deploy', 'dev-cluster', 'programs');
/** Of one program, also when other work on the machine goes first. */
const TIME_LIMIT_MS = 60 * 60_000;

/** Packages of that module, or (with a version) what `go install` takes; in the order in which they are built. */
const PROGRAMS = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  etcd: 'go.etcd.io/etcd/server/v3',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  coredns: './dns',
  helm: 'helm.sh/helm/v3/cmd/helm',
  containerd: `github.com/containerd/containerd/v2/cmd/containerd@v${CONTAINERD_VERSION}`,
  'containerd-shim-runc-v2': `github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2@v${CONTAINERD_VERSION}`,
  ctr: `github.com/containerd/containerd/v2/cmd/ctr@v${CONTAINERD_VERSION}`,
};

export const CLUSTER_PROGRAMS = Object.keys(PROGRAMS);

/** What the tests need that talk to an API server and its store without a node. */
export const API_SERVER_PROGRAMS = ['kube-apiserver', 'etcd'];

/** What member clusters without nodes are made of. */
export const MEMBER_PROGRAMS = [...API_SERVER_PROGRAMS, 'kube-controller-manager', 'kube-scheduler'];

/** What the tests talk to a cluster with, whichever it is. */
export const CLUSTER_CLIENTS = ['kubectl', 'helm'];

/** Folder of the programs in the cache, whose name changes with every version that goes into them. */
export function clusterProgramsFolder() {
  const hash = createHash('sha256').update(JSON.stringify(PROGRAMS));
  for (const file of ['go.mod', 'go.sum', 'dns/main.go']) hash.update(readFileSync(join(MODULE, file)));
  return join(CACHE_DIR, `dev-cluster-${KUBERNETES_VERSION}-${hash.digest('hex').slice(0, 12)}`);
}

/**
 * Which of these programs are not there yet.
 * @param {string[]} names
 */
export function missingClusterPrograms(names) {
  const folder = clusterProgramsFolder();
  return names.filter((name) => !existsSync(join(folder, name)));
}

/** Whether they can be built here. */
export function canBuildClusterPrograms() {
  return findOnPath('go') !== undefined;
}

/**
 * Builds with Go those that are missing. Each lands in the folder when it is whole, so a start that was broken off goes
 * on where it was, and two starts build each program once. Why a build failed is left in the folder, for those who wait
 * for it.
 * @param {string[]} names
 * @returns {Promise<string>} their folder
 */
export async function ensureClusterPrograms(names) {
  const folder = clusterProgramsFolder();
  const missing = missingClusterPrograms(names);
  if (missing.length === 0) return folder;
  mkdirSync(folder, { recursive: true });
  const failure = join(folder, 'failure.txt');
  rmSync(failure, { force: true });
  try {
    if (!canBuildClusterPrograms()) throw new SetupError('Go is missing on this machine (package: golang-go)');
    checkFreeDisk();
    for (const name of CLUSTER_PROGRAMS.filter((one) => missing.includes(one))) await ensureProgram(name, folder);
  } catch (error) {
    writeFileSync(failure, error.message);
    throw error;
  }
  return folder;
}

function ensureProgram(name, folder) {
  const target = join(folder, name);
  return withLock(
    `cluster program ${target}`,
    async () => {
      if (existsSync(target)) return;
      // Always the same, so that one which was left by a build that was killed is used up.
      const work = join(folder, `.${name}.building`);
      rmSync(work, { recursive: true, force: true });
      mkdirSync(work);
      try {
        await step(`Building ${name} of the development cluster`, (onLine) => build(name, work, onLine));
        renameSync(join(work, name), target);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    },
    (text) => process.stderr.write(`  ${name}: ${text}\n`),
  );
}

async function build(name, work, onLine) {
  const source = PROGRAMS[name];
  const options = { onLine, timeoutMs: TIME_LIMIT_MS, env: goEnvironment({ ...process.env, GOBIN: work }) };
  const flags = ['-trimpath', '-ldflags', linkerFlags(source)];
  if (source.includes('@')) await run('go', ['install', ...flags, source], options);
  else await run('go', ['build', ...flags, '-o', join(work, name), source], { ...options, cwd: MODULE });
}

/** Kubernetes does not know its own version from the module; without it the API server calls itself v0.0.0. */
function linkerFlags(source) {
  if (!source.startsWith('k8s.io/kubernetes/')) return '-s -w';
  const [major, minor] = KUBERNETES_VERSION.split('.');
  const version = { gitVersion: `v${KUBERNETES_VERSION}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const set = Object.entries(version).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`);
  return ['-s -w', ...set].join(' ');
}
