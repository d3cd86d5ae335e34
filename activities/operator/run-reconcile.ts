import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { entryOf, type OperatorSite } from '../../control/operator/operator-site.ts';
import { secondsOf } from '../../domain/operator/duration.ts';
import { gvkText } from '../../domain/operator/names.ts';
import { outcomeOf } from '../../domain/operator/outcome.ts';
import { type ReconcileBegin, type RunResult, runIdOfReconcile, tookLonger } from '../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../domain/operator/resource-words.ts';
import { runnerArguments } from '../../domain/operator/runner-command.ts';
import { runnerEnvironment } from '../../domain/operator/runner-environment.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import {
  findReconcile,
  isCancelRequested,
  listRunsBeyond,
  readRunnerEvents,
  writeRunResult,
} from '../../store/operator/reconciles.ts';
import { findRun } from '../../store/runs/runs.ts';
import { type RunToEndDependencies, runToEnd } from '../runs/run-to-end.ts';
import { type LoggedEvents, loggingRunner } from './log-events.ts';
import type { RunsHere } from './prepare-reconcile.ts';

export interface RunReconcileDependencies extends RunToEndDependencies, OperatorSite {
  here: RunsHere &
    Omit<Parameters<typeof runnerEnvironment>[0], 'env' | 'kubeconfig'> & {
      /** Largest kept log of a run (bytes). */
      logMaxBytes: number;
      /** What of the events goes to the log. */
      events: LoggedEvents;
    };
}

/** Exit status of a command that could not be executed, as the launcher gives it. */
const NOT_EXECUTABLE = 127;

/** The second step of a reconcile: brings its run to its end and stores how it ended. A step that was done before does nothing. */
export async function runReconcile(
  deps: RunReconcileDependencies,
  reconcileId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, runner, directories, ways, here } = deps;
  const reconcile = await findReconcile(db, reconcileId);
  if (reconcile === null || reconcile.endedAt !== null || reconcile.runResult !== null) return;
  if (reconcile.begin?.does !== 'run') return;
  const begin = reconcile.begin;
  const runId = runIdOfReconcile(reconcileId);
  const limit = entryOf(deps, reconcile)?.entry.muster.run_timeout ?? null;
  let isLate = false;
  if (reconcile.cancelledBy !== null && (await findRun(db, runId)) === null) {
    await ways.close(runId);
    await writeRunResult(db, reconcileId, { ended: 'interrupted' });
    return directories.tidy(runId);
  }
  const names = { name: reconcile.name, namespace: reconcile.namespace, gvk: gvkText(reconcile), job: runId };
  const isVerbose = begin.logsVerbosely === true || Number(here.environment.ANSIBLE_VERBOSITY ?? 0) > 0;
  await runToEnd(
    { ...deps, runner: loggingRunner(runner, deps, here.events, { ...names, isVerbose }) },
    {
      run: {
        id: runId,
        sessionId: null,
        owner: { kind: RECONCILE_KIND, id: reconcileId },
        streamId: runId,
        layer: 0,
        attempt: 1,
      },
      spec: () => specOf(deps, runId, begin),
      tell: async () => undefined,
      whileRunning: () => {
        const end = () => runner.end(runId).catch(() => undefined);
        const stopCancel = endWhenCancelled(deps, reconcileId, end);
        if (limit === null) return stopCancel;
        const timer = setTimeout(() => {
          isLate = true;
          void end();
        }, secondsOf(limit) * 1000);
        return async () => {
          clearTimeout(timer);
          await stopCancel();
        };
      },
    },
    signal,
  );
  await ways.close(runId);
  const result = await resultOf(deps, runId);
  await writeRunResult(
    db,
    reconcileId,
    isLate && limit !== null && result.ended === 'itself'
      ? { ...result, outcome: 'failed', messages: [tookLonger(limit)] }
      : result,
  );
  await directories.tidy(runId);
  const kept = begin.maxArtifacts;
  if (kept <= 0) return;
  for (const old of await listRunsBeyond(db, reconcile, kept)) await directories.dropArtifacts(old);
}

/** Looks for the wish to end a run so often (ms): there are as many runs here as places. */
const LOOK_MS = 1_000;

/** Ends a run once somebody has cancelled its reconcile. Returns how to stop looking. */
function endWhenCancelled(
  { db }: Pick<RunReconcileDependencies, 'db'>,
  reconcileId: string,
  end: () => Promise<unknown>,
): () => Promise<void> {
  const stopped = new AbortController();
  const look = async () => {
    while (!stopped.signal.aborted) {
      // While the database is away no cancel can be recorded.
      if (await isCancelRequested(db, reconcileId).catch(() => false)) await end();
      await delay(LOOK_MS, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
    }
  };
  const looking = look();
  return async () => {
    stopped.abort();
    await looking;
  };
}

type Begun = Extract<ReconcileBegin, { does: 'run' }>;

async function specOf(
  { here, directories, home }: RunReconcileDependencies,
  runId: string,
  begin: Begun,
): Promise<RunSpec> {
  const { directory, kubeconfig } = directories.paths(runId);
  const program = await here.findRunner();
  const { script, verbosity, maxArtifacts } = begin;
  const { environment: env, only, secretSettings, ansibleConfig } = here;
  const gathering = env.ANSIBLE_GATHERING;
  const variables = runnerEnvironment({ env, kubeconfig, only, secretSettings, ansibleConfig });
  return {
    runId,
    argv: [
      program ?? 'ansible-runner',
      ...runnerArguments({ directory, ident: runId, script, maxArtifacts, verbosity, gathering }),
    ],
    cwd: home,
    // ansible-runner calls the ansible-playbook of its own environment.
    env: program === null ? variables.plain : withProgramsOf(program, variables.plain),
    secretEnv: variables.secret,
    // They are in the run's folder already.
    masks: [],
    logMaxBytes: here.logMaxBytes,
    trace: 'job_events',
  };
}

function withProgramsOf(program: string, env: Record<string, string>): Record<string, string> {
  return { ...env, PATH: [dirname(program), env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(':') };
}

async function resultOf({ db, directories, ways }: RunReconcileDependencies, runId: string): Promise<RunResult> {
  // It was ended, or failed without its way to the cluster.
  if (ways.wasCut(runId)) return { ended: 'interrupted' };
  const run = await findRun(db, runId);
  if (run === null || run.state !== 'ended' || run.exitCode === null) return { ended: 'interrupted' };
  const events = await readRunnerEvents(db, runId);
  const lastLines = await directories.lastLines(runId);
  if (run.exitCode === NOT_EXECUTABLE && lastLines === null) return { ended: 'unable' };
  const hasStats = events.some(({ event }) => event === 'playbook_on_stats');
  return { ended: 'itself', hasStats, ...outcomeOf(events, { exitCode: run.exitCode, lastLines }) };
}
