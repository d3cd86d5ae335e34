import { dirname } from 'node:path';
import { entryOf, type OperatorSite } from '../../control/operator/operator-site.ts';
import { isMusterError } from '../../domain/errors.ts';
import { secondsOf } from '../../domain/operator/duration.ts';
import { gvkText } from '../../domain/operator/names.ts';
import { outcomeOf } from '../../domain/operator/outcome.ts';
import {
  type ReconcileBegin,
  type RunResult,
  runIdOfReconcile,
  tookLonger,
  wasLate,
} from '../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../domain/operator/resource-words.ts';
import { runnerArguments } from '../../domain/operator/runner-command.ts';
import { runnerEnvironment } from '../../domain/operator/runner-environment.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { listRunsBeyond } from '../../store/operator/old-reconciles.ts';
import { findReconcile, readRunnerEvents, readRunStart, writeRunResult } from '../../store/operator/reconciles.ts';
import { findRun } from '../../store/runs/runs.ts';
import { type RunToEndDependencies, runToEnd } from '../runs/run-to-end.ts';
import { endWhenWanted } from './end-when-wanted.ts';
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
  const { db, log, runner, directories, ways, here } = deps;
  const reconcile = await findReconcile(db, reconcileId);
  if (reconcile === null || reconcile.endedAt !== null || reconcile.begin?.does !== 'run') return;
  const begin = reconcile.begin;
  const runId = runIdOfReconcile(reconcileId);
  // The step may have been broken off between its result and this.
  if (reconcile.runResult !== null) return directories.tidy(runId);
  const limit = entryOf(deps, reconcile)?.entry.muster.run_timeout ?? null;
  const limitMs = limit === null ? null : secondsOf(limit) * 1_000;
  if (reconcile.cancelledBy !== null && (await findRun(db, runId)) === null) {
    await ways.close(runId);
    await writeRunResult(db, reconcileId, { ended: 'interrupted' });
    return directories.tidy(runId);
  }
  const names = { name: reconcile.name, namespace: reconcile.namespace, gvk: gvkText(reconcile), job: runId };
  const isVerbose = begin.logsVerbosely === true || Number(here.environment.ANSIBLE_VERBOSITY ?? 0) > 0;
  const isStarted = await runToEnd(
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
      whileRunning: () => endWhenWanted(deps, { reconcileId, runId, limitMs }),
    },
    signal,
  ).then(
    () => true,
    (error: unknown) => {
      // The record says so already: it never starts later by itself.
      if (!isMusterError(error) || error.code !== 'run_not_started') throw error;
      log.warn({ reconcile: reconcileId, err: error.detail }, 'a run could not be started');
      return false;
    },
  );
  await ways.close(runId);
  if (isStarted && here.events.isWhole) await printOutput(deps, runId);
  const result = isStarted ? await resultOf(deps, runId, limit) : ({ ended: 'unable' } as const);
  // A playbook whose ansible-runner was killed goes on without it, and would be beside the next run.
  if (result.ended !== 'itself' || !result.hasStats) await endLeft(deps, runId);
  await writeRunResult(db, reconcileId, result);
  await directories.tidy(runId);
  const kept = begin.maxArtifacts;
  if (kept <= 0) return;
  for (const old of await listRunsBeyond(db, reconcile, kept)) await directories.dropArtifacts(old);
}

/** Prints the whole output of a run, in one piece. */
async function printOutput(
  { directories, here }: Pick<RunReconcileDependencies, 'directories' | 'here'>,
  runId: string,
): Promise<void> {
  const text = await directories.output(runId, here.logMaxBytes).catch(() => null);
  if (text !== null && text !== '') here.events.print(text.endsWith('\n') ? text : `${text}\n`);
}

/** Ends what a run has left working that did not come to its end; what belongs to another user stays, and is told of. */
async function endLeft(
  { runner, log }: Pick<RunReconcileDependencies, 'runner' | 'log'>,
  runId: string,
): Promise<void> {
  await runner.end(runId).catch((error: unknown) => {
    log.warn({ run: runId, err: messageOf(error) }, 'not all of a run could be ended');
  });
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

async function resultOf(
  { db, directories, ways }: RunReconcileDependencies,
  runId: string,
  limit: string | null,
): Promise<RunResult> {
  const run = await findRun(db, runId);
  if (run === null || run.state !== 'ended' || run.exitCode === null) return { ended: 'interrupted' };
  const events = await readRunnerEvents(db, runId);
  const lastLines = await directories.lastLines(runId);
  if (run.exitCode === NOT_EXECUTABLE && lastLines === null) return { ended: 'unable' };
  const hasStats = events.some(({ event }) => event === 'playbook_on_stats');
  const outcome = outcomeOf(events, { exitCode: run.exitCode, lastLines });
  const [startedAt, endedAt] = await Promise.all([readRunStart(db, runId), directories.endedAt(runId)]);
  const ended = { startedAt, endedAt, exitCode: run.exitCode };
  if (limit !== null && wasLate(ended, secondsOf(limit) * 1_000))
    return { ended: 'itself', hasStats, ...outcome, outcome: 'failed', messages: [tookLonger(limit)] };
  // It was ended, or failed, without its way to the cluster.
  if (outcome.outcome === 'failed' && (await ways.wasAway(runId))) return { ended: 'interrupted' };
  return { ended: 'itself', hasStats, ...outcome };
}
