/** How AppContexts come to Temporal: told after a call, and told again by the sweep. */

import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { Db } from '../../store/connection/database.ts';
import { listWanted } from '../../store/deployments/wanted-contexts.ts';
import { wakeContext } from '../../workflows/deployments/messages.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';

/** A call this young may still be on its way to the engine, ms. */
const SETTLE_MS = 30_000;
/** Time (ms) in which one sweep tells Temporal of AppContexts; the next one goes on behind them. */
const SWEEP_MS = 20_000;
/** AppContexts that are told of at once: so many that each is tried within the time, also where Temporal does not answer. */
const PORTION = 96;

/** The workflow of an AppContext that wants something; an open one looks at the row again. */
export function wantedContext(context: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.appContext,
    workflowId: contextWorkflowId(context),
    args: [{ context }],
    staticSummary: `brings AppContext ${context} to its clusters or off them`,
    signal: wakeContext,
  };
}

export interface SweepDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
}

/**
 * Makes the sweep, which tells Temporal of each AppContext that wants a phase: it may never have heard of it, or have lost its store. Each sweep
 * goes on where the former one ended, so that many that wait for their clusters keep no other from being told of.
 */
export function createContextSweep({ db, tell, clock }: SweepDependencies): (signal: AbortSignal) => Promise<void> {
  let after = '';
  return async (signal) => {
    const until = performance.now() + SWEEP_MS;
    const before = new Date(clock().getTime() - SETTLE_MS);
    do {
      signal.throwIfAborted();
      const wanted = await listWanted(db, { before, after, limit: PORTION });
      await tell(wanted.map(wantedContext), SWEEP_MS);
      after = wanted.length < PORTION ? '' : (wanted.at(-1) ?? '');
    } while (after !== '' && performance.now() < until);
  };
}
