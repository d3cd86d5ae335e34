/** Attempts as runs of this machine: each has one run, which is found again, ended and followed as any other. */
import { setTimeout as delay } from 'node:timers/promises';
import { ATTEMPT } from '../../control/propagation/attempt-owner.ts';
import type { RecordedEnd } from '../../control/propagation/record-attempt.ts';
import { closeRun } from '../../control/runs/follow-run.ts';
import { type Interruption, interruptionOf, resultOfBroken } from '../../domain/propagation/attempt-outcome.ts';
import { runIdOfOwner } from '../../domain/runs/owner.ts';
import type { Runner } from '../../domain/runs/runner.ts';
import type { Db } from '../../store/connection/database.ts';
import { findAttempt } from '../../store/propagation/plan-attempts.ts';
import { findNodes, noteReason } from '../../store/propagation/plan-nodes.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { findRun } from '../../store/runs/runs.ts';
import { type OwnedRun, runToEnd } from '../runs/run-to-end.ts';
import { type ActionHandler, type ActionHandlers, handlerOf } from './action-handler.ts';
import { prepareRun } from './prepare-run.ts';
import type { AttemptRunner, AttemptWatch } from './run-attempt.ts';

export interface AttemptRunsDependencies {
  db: Db;
  clock(): Date;
  runner: Runner;
  /** Id of this machine's data directory. */
  hostId: string;
  handlers: ActionHandlers;
  /** Pauses between tries to start a run, in ms. */
  startPauses?: number[];
}

/** How often a run that goes on is asked whether it is to be ended, ms. */
const LOOK_MS = 1_000;
/** The same of a run that has not begun, of which there may be many more. */
const LOOK_BEFORE_MS = 2_000;

/** Makes the runner of attempts of this machine. */
export function createAttemptRuns(deps: AttemptRunsDependencies): AttemptRunner {
  return { run: (attempt, watch) => runOne(deps, attempt, watch) };
}

async function runOne(deps: AttemptRunsDependencies, attempt: AttemptRow, watch: AttemptWatch): Promise<RecordedEnd> {
  const { db, runner } = deps;
  const runId = runIdOfOwner({ kind: ATTEMPT, id: attempt.id }, 1);
  const [node] = await findNodes(db, attempt.plan, [attempt.node]);
  if (node === undefined) throw new Error(`attempt ${attempt.id} has no node`);
  const handler = handlerOf(deps.handlers, node);
  let interruption: Interruption | null = null;
  /** The end is asked for, and nothing has begun. */
  const isUnwanted = async () => (await watch.wantsEnd()) && !(await runner.isStarted(runId));
  if (await isUnwanted()) return neverBegun(deps, attempt, handler, runId);
  // A run may be prepared, or wait for a free place, for a long time. An abort meanwhile keeps it from beginning.
  const before = new AbortController();
  const signal = AbortSignal.any([watch.signal, before.signal]);
  const stopLookingBefore = looking(async () => {
    if (await isUnwanted()) before.abort();
  }, LOOK_BEFORE_MS);
  const owned: OwnedRun = {
    run: {
      ...{ id: runId, sessionId: null, owner: { kind: ATTEMPT, id: attempt.id }, streamId: runId, layer: 0 },
      attempt: attempt.number,
    },
    spec: () => {
      const { startPauses: pauses } = deps;
      const tell = (reason: string) => noteReason(db, attempt, reason);
      const prepare = () => handler.prepare(attempt, node, runId);
      return prepareRun({ prepare, tell, ...(pauses === undefined ? {} : { pauses }) }, signal);
    },
    tell: async (progress) => {
      if (progress.step === 'running') {
        await stopLookingBefore();
        await Promise.all([watch.started(), noteReason(db, attempt, null)]);
      } else await noteReason(db, attempt, reasonOf(progress));
    },
    whileRunning: () => {
      const stop = handler.whileRunning?.(attempt, node, runId);
      const stopLooking = looking(async () => {
        interruption ??= await interruptionNow(deps, attempt, node, watch);
        if (interruption !== null) await runner.end(runId);
      }, LOOK_MS);
      return async () => {
        await stop?.();
        await stopLooking();
      };
    },
  };
  try {
    await runToEnd(deps, owned, signal);
  } catch (error) {
    if (watch.signal.aborted) throw error;
    if (await isUnwanted()) return neverBegun(deps, attempt, handler, runId);
    if (!before.signal.aborted) throw error;
    // It had just begun: it is followed, and ended as every run that goes on.
    await runToEnd(deps, owned, watch.signal);
  } finally {
    await stopLookingBefore();
  }
  const ended = await findRun(db, runId);
  const exitCode = ended?.exitCode ?? null;
  // Another watcher may have ended it before.
  const wasEnded = interruption ?? (exitCode === 0 ? null : await interruptionNow(deps, attempt, node, watch));
  const isBroken = wasEnded !== null || exitCode === null;
  const isGoneElsewhere =
    !isBroken || ((await handler.endElsewhere?.(attempt, node, { id: runId, exitCode }, watch.signal)) ?? true);
  const isGone = isGoneElsewhere && !(await runner.mayHaveLeft(runId));
  const broken = resultOfBroken({ exitCode, interruption: wasEnded, isGone });
  const result = broken ?? (await handler.result(attempt, node, { id: runId, exitCode: exitCode ?? 0 }, watch.signal));
  await handler.clear(attempt, runId);
  return result;
}

/** Keeps a run from ever beginning, and removes what was made ready for it. Returns the end of its attempt. */
async function neverBegun(
  { db, clock, runner }: AttemptRunsDependencies,
  attempt: AttemptRow,
  handler: ActionHandler,
  runId: string,
): Promise<RecordedEnd> {
  await runner.end(runId);
  const run = await findRun(db, runId);
  if (run !== null) await closeRun(db, run, { exit: null, results: null, warnings: [] }, clock());
  await handler.clear(attempt, runId);
  return { outcome: 'error', code: 'cancelled', message: 'Cancelled', verified: true };
}

function reasonOf(progress: { step: string; held?: number; limit?: number; detail?: string }): string | null {
  if (progress.step === 'waits_for_slot') return `waits for a free run: ${progress.held} of ${progress.limit} go on`;
  return progress.detail ?? null;
}

async function interruptionNow(
  { db, clock }: AttemptRunsDependencies,
  { id }: AttemptRow,
  { rules }: PlanNodeRow,
  watch: AttemptWatch,
): Promise<Interruption | null> {
  const since = (await findAttempt(db, id))?.started_at ?? null;
  const ran = since === null ? 0 : (clock().getTime() - since.getTime()) / 1_000;
  return interruptionOf(await watch.wantsEnd(), ran, rules);
}

/** Looks again and again, also after a look that failed, and first after the pause. Returns its stop, after which no look is under way. */
function looking(look: () => Promise<void>, everyMs: number): () => Promise<void> {
  const stopped = new AbortController();
  const goesOn = (async () => {
    for (;;) {
      await delay(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      await look().catch(() => undefined);
    }
  })();
  return async () => {
    stopped.abort();
    await goesOn;
  };
}
