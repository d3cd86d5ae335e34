/**
 * Ends what Jobs of sessions there are and lets go of them, so that nothing is left behind when Muster is removed: the Job that
 * runs before a release is deleted. Composition root. Repeating it changes nothing.
 *
 *     node deploy/kubernetes/uninstall.ts PATIENCE NAMESPACE [DEPLOYMENT ...]
 *
 * PATIENCE: seconds for the pods of all Jobs to end, then for workers to record it, then for API and worker to stop; and for rights that
 * were just given to hold. The Deployments of API and worker in NAMESPACE are scaled to nothing in between: first the workers store how each session ended, then nobody may start another.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { isMusterError } from '../../domain/errors.ts';
import { someOf } from '../../domain/some-of.ts';
import { isForbidden } from '../../drivers/kubernetes/cluster-client.ts';
import { openClusterJobs } from '../../drivers/kubernetes-runner/kubernetes-runner.ts';
import { openLeftovers } from '../../drivers/kubernetes-runner/leftovers.ts';

const LOOK_MS = 1_000;
/** For a cluster that does not answer, ms; below the Job's own limit. */
const GIVE_UP_MS = 600_000;
/** In which workers store how a session ended whose Job they have let go of, ms: its workflow comes to that a moment later. */
const RECORD_MS = 5_000;
/** Jobs ended at once; most of that is waiting. */
const WIDTH = 16;
/** For the pods of a Job whose end was ordered when there was time for that, ms: one look. */
const LAST_LOOK_MS = 1_000;

async function main([patience, namespace, ...deployments]: string[]): Promise<void> {
  const patienceMs = Number(patience) * 1_000;
  if (!(patienceMs > 0) || namespace === undefined) {
    throw new EnvironmentError('usage: uninstall.ts PATIENCE NAMESPACE [DEPLOYMENT ...]');
  }
  const env = loadEnvironment(process.env);
  const log = pino({ name: 'muster-uninstall', level: env.MUSTER_LOG_LEVEL });
  const { MUSTER_RUNNER_NAMESPACE: runnerNamespace, MUSTER_RUNNER_KUBECONFIG: kubeconfig = null } = env;
  const begun = Date.now();
  const leftovers = openLeftovers(runnerNamespace, kubeconfig);
  const jobs = openClusterJobs({
    namespace: runnerNamespace,
    kubeconfig,
    // Nothing is started from here.
    ansibleImage: '',
    utilImage: '',
    pullPolicy: env.MUSTER_RUNNER_PULL_POLICY,
    requests: {},
    limits: {},
    nodeSelector: {},
    tolerations: [],
    serviceAccount: null,
    ingestUrl: '',
    apiUrl: null,
    sidecarWait: false,
    workspace: { size: '', medium: '' },
  });

  let told = '';
  /** A cluster that is slow or away for a while is asked again: leaving half of it undone is worse than waiting. Rights do not come by waiting. */
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isMusterError(error) || error.code !== 'cluster_unavailable') throw error;
        const waits = isForbidden(error) ? patienceMs : GIVE_UP_MS;
        if (Date.now() - begun > waits) throw error;
        if (told !== error.detail) log.warn({ err: error.detail }, 'the cluster does not do this yet');
        told = error.detail;
        await delay(LOOK_MS);
      }
    }
  };
  const jobNames = () => asked(() => leftovers.jobNames());
  /** Jobs with pods of which nobody knows whether they have stopped: their node is away. */
  const unknown = new Set<string>();
  /** Ends these Jobs, all within one patience: nobody waits anew for each of those whose node is away. */
  const endAll = async (names: readonly string[]) => {
    await inParallel(names, async (name) => void (await asked(() => jobs.end(name, 0))));
    const latest = Date.now() + patienceMs;
    await inParallel(names, async (name) => {
      const left = unknown.has(name) ? 0 : latest - Date.now();
      const { unverified } = await asked(() => jobs.end(name, Math.max(LAST_LOOK_MS, left)));
      if (unverified !== null) unknown.add(name);
      log.info({ job: name, unverified }, 'ended');
    });
  };

  const open = await jobNames();
  await endAll(open);
  // Workers see that a Job is being deleted, store its result and let it go.
  await until(patienceMs, async () => (await jobNames()).length === 0);
  if (open.length > 0) await delay(RECORD_MS);
  await until(patienceMs, async () => {
    const pods = await Promise.all(deployments.map((name) => asked(() => leftovers.scaleDown(namespace, name))));
    return pods.every((count) => count === 0);
  });
  // What nobody let go: the worker was away, or a session came in between.
  const rest = await jobNames();
  await endAll(rest);
  await inParallel(rest, (name) => asked(() => jobs.release(name)));
  const gone = await until(patienceMs, async () => (await jobNames()).length === 0);
  if (!gone) throw new Error(`still there: ${someOf(await jobNames())}`);
  log.info({ namespace: runnerNamespace, jobs: open.length + rest.length }, 'no Job of a session is left');
}

async function inParallel(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const waiting = [...names];
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await work(name);
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}

/** Looks until `done` or for `ms`; answers whether it was. */
async function until(ms: number, done: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + ms; ; await delay(LOOK_MS)) {
    if (await done()) return true;
    if (Date.now() > end) return false;
  }
}

/** For who reads the Job's log. */
function wordsOf(error: unknown): string {
  if (error instanceof EnvironmentError) return error.message;
  if (isForbidden(error))
    return `${error.detail}\nThe Role of the removal, and the binding of this Job's account to it, allow this.`;
  if (isMusterError(error)) return error.detail;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exit(error instanceof EnvironmentError ? 2 : 1);
});
