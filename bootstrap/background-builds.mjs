import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import {
  API_SERVER_PROGRAMS,
  CLUSTER_CLIENTS,
  CLUSTER_PROGRAMS,
  canBuildClusterPrograms,
  ensureClusterPrograms,
} from './cluster-programs.mjs';
import { output } from './commands.mjs';
import { missingForImages } from './image-builder.mjs';
import { ensureImages } from './images.mjs';
import { buildPreviousImages } from './previous-images.mjs';
import { keepToPlainLines } from './progress.mjs';
import { ROOT } from './settings.mjs';

/** Behind the tests, which have time limits. */
const PRIORITY = 15;

/** What the suites need that takes minutes to build; those that are not named need nothing. */
const NEEDED_BY = {
  activity: 'api-server',
  e2e: 'api-server',
  cluster: 'all',
};

/**
 * Starts the long builds for some suites in a process beside this one, so that the suites that need none can run; those
 * that do wait for what is built. They end with this process.
 * @param {string | undefined} suite the only suite that will run; all when undefined
 */
export function startBackgroundBuilds(suite) {
  const what = suite === undefined ? 'all' : NEEDED_BY[suite];
  if (what === undefined || !canBuildClusterPrograms()) return;
  // In a process group of its own, so that compilers that it has started end with it.
  const child = spawn(process.execPath, [join(ROOT, 'bootstrap', 'run.mjs'), 'build', what], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.unref();
  child.on('error', () => {});
  process.on('exit', () => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  });
}

/**
 * The work of that process. A build that fails is reported here and to those who wait for it.
 * @param {string} what api-server or all
 */
export async function buildInBackground(what) {
  setPriority(PRIORITY);
  keepToPlainLines();
  await ensureClusterPrograms(what === 'all' ? programsOfCluster() : API_SERVER_PROGRAMS);
  if (what !== 'all' || missingForImages().length > 0) return;
  await ensureImages();
  await buildPreviousImages();
}

/** A cluster of the user's, and one of kind, needs no parts, only what talks to it; without root there is none of own parts. */
function programsOfCluster() {
  const provider = output('bash', [join(ROOT, 'deploy', 'dev-cluster', 'cluster.sh'), 'provider'])?.trim();
  if (provider === 'existing' || provider === 'kind') return [...API_SERVER_PROGRAMS, ...CLUSTER_CLIENTS];
  return process.getuid?.() === 0 ? CLUSTER_PROGRAMS : API_SERVER_PROGRAMS;
}
