import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, run } from './commands.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, ROOT, KUBERNETES_VERSION as VERSION } from './settings.mjs';

const FOLDER = join(CACHE_DIR, `kubernetes-${VERSION}`);
const PROGRAMS = { etcd: 'go.etcd.io/etcd/server/v3', kube: 'k8s.io/kubernetes/cmd/kube-apiserver' };
const BINARIES = ['etcd', 'kube-apiserver'];

/** Folder with etcd and kube-apiserver: MUSTER_TEST_KUBERNETES_DIR, then the cache; undefined when there is none. */
export function installedKubernetes() {
  const folders = [process.env.MUSTER_TEST_KUBERNETES_DIR, FOLDER];
  return folders.find((folder) => folder && BINARIES.every((name) => existsSync(join(folder, name))));
}

/** Whether it can be built here. */
export function canBuildKubernetes() {
  return findOnPath('go') !== undefined;
}

/**
 * Builds the API server of Kubernetes and its store with Go, for the tests that need a real one.
 * @returns {Promise<string>} folder of both programs
 */
export async function ensureKubernetes() {
  const ready = installedKubernetes();
  if (ready) return ready;
  return withLock(
    `Kubernetes ${FOLDER}`,
    async () => {
      const readyByNow = installedKubernetes();
      if (readyByNow) return readyByNow;
      mkdirSync(CACHE_DIR, { recursive: true });
      const work = mkdtempSync(join(CACHE_DIR, 'kubernetes.tmp-'));
      try {
        await step(`Building the API server of Kubernetes ${VERSION}, 5 to 10 minutes`, (onDetail) =>
          build(work, onDetail),
        );
        rmSync(FOLDER, { recursive: true, force: true });
        renameSync(work, FOLDER);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
      return FOLDER;
    },
    (text) => process.stderr.write(`  Kubernetes: ${text}\n`),
  );
}

async function build(work, onDetail) {
  const [major, minor] = VERSION.split('.');
  const version = Object.entries({
    gitVersion: `v${VERSION}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
  });
  // Without these the server calls itself v0.0.0.
  const flags = version.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`).join(' ');
  const env = { ...process.env, CGO_ENABLED: '0' };
  for (const [module, program] of Object.entries(PROGRAMS)) {
    const cwd = join(ROOT, 'deploy', 'dev-cluster', 'modules', module);
    const target = join(work, BINARIES.find((name) => program.includes(name)) ?? module);
    await run('go', ['build', '-ldflags', `-s -w ${flags}`, '-o', target, program], { cwd, env, onLine: onDetail });
  }
}
