/** How plans come to Temporal: told after a command, woken when a lease is free, told again by the sweep. */
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { planWorkflowId } from '../../domain/propagation/workflow-id.ts';
import type { Db } from '../../store/connection/database.ts';
import { findWakeable, LEASE_CHANNEL } from '../../store/propagation/leases.ts';
import { listOpenPlans } from '../../store/propagation/plans.ts';
import { pokePlan } from '../../workflows/propagation/messages.ts';
import { type FollowChannelOptions, followChannel } from '../changes/follow-channel.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';

/** A command this young may still be on its way to the engine, ms. */
const SETTLE_MS = 60_000;
/** Time (ms) in which one sweep tells Temporal of plans; the next one goes on. */
const TELL_MS = 20_000;

/** The driver of a plan that is open. */
export function wantedPlan(plan: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.plan,
    workflowId: planWorkflowId(plan),
    args: [{ plan }],
    staticSummary: `runs the plan ${plan}`,
  };
}

/** The driver of a plan of which something is to be heard. */
export function pokedPlan(plan: string): WantedWorkflow {
  return { ...wantedPlan(plan), signal: pokePlan };
}

export interface WakeDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
}

/** Starts the driver of each open plan that has none, and pokes those that have not heard a command. */
export async function sweepPlans({ db, tell, clock }: WakeDependencies): Promise<void> {
  const plans = await listOpenPlans(db, new Date(clock().getTime() - SETTLE_MS));
  await tell(
    plans.map(({ id, unheard }) => (unheard ? pokedPlan(id) : wantedPlan(id))),
    TELL_MS,
  );
}

export interface FollowLeasesOptions extends Pick<FollowChannelOptions, 'database' | 'log'>, WakeDependencies {}

/** Wakes the plans that wait for a lease when a lease is free. Returns how to stop. */
export function followLeases({ db, tell, clock, database, log }: FollowLeasesOptions): () => Promise<void> {
  return followChannel({
    database,
    log,
    name: 'muster-propagation',
    channel: LEASE_CHANNEL,
    act: async () => tell((await findWakeable(db, clock())).map(pokedPlan)),
  });
}
