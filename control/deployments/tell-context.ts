/** How AppContexts come to Temporal: told after a call, and told again by the sweep. */

import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { Db } from '../../store/connection/database.ts';
import { listWanted } from '../../store/deployments/contexts.ts';
import { wakeContext } from '../../workflows/deployments/messages.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';

/** A call this young may still be on its way to the engine, ms. */
const SETTLE_MS = 30_000;
/** Time (ms) in which one sweep tells Temporal of AppContexts; the next one goes on. */
const TELL_MS = 20_000;
/** AppContexts of one sweep. */
const MOST = 1_000;

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

/** Tells Temporal of each AppContext that wants a phase: it may never have heard of it, or have lost its store. */
export async function sweepContexts({ db, tell, clock }: SweepDependencies): Promise<void> {
  const wanted = await listWanted(db, new Date(clock().getTime() - SETTLE_MS), MOST);
  await tell(wanted.map(wantedContext), TELL_MS);
}
