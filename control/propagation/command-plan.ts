/** What users ask of a plan. Each command is written down in one transaction; then the driver is told, and obeys at its next step. */
import { type MusterError, musterError } from '../../domain/errors.ts';
import { localText } from '../../domain/propagation/handler-support.ts';
import {
  allows,
  type PlanCommand,
  type PlanWish,
  STATE_AFTER,
  STATUSES_PUT_BACK,
} from '../../domain/propagation/plan-states.ts';
import { LOCALHOST } from '../../domain/propagation/target.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import { someOf } from '../../domain/some-of.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findHeldAttempts } from '../../store/propagation/leases.ts';
import { listClaimed } from '../../store/propagation/plan-attempts.ts';
import { countStatuses, findExecuting, findNamed, putBack } from '../../store/propagation/plan-nodes.ts';
import type { DrivenPlan } from '../../store/propagation/plan-tables.ts';
import { commandPlan, deletePlan, findPlan, freeItems, lockPlan, updatePlan } from '../../store/propagation/plans.ts';
import { deleteRuns } from '../../store/runs/runs.ts';
import { deleteStream } from '../../store/runs/streams.ts';
import type { Tell } from '../temporal/tell.ts';
import { ATTEMPT } from './attempt-owner.ts';
import type { ModelDependencies } from './dependencies.ts';
import { pokedPlan } from './wake-plans.ts';

export interface CommandDependencies extends ModelDependencies {
  tell: Tell;
  /** What executes the work of users on this installation. */
  runner: RunnerKind;
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
}

/**
 * Starts a plan. A plan that is open goes on as it does.
 * Throws `plan_not_found`, `plan_state`, `not_supported`.
 */
export function runPlan(deps: CommandDependencies, id: string): Promise<DrivenPlan> {
  return command(deps, id, 'run', ({ trx }) => refuseForeign(trx, deps, id));
}

/** Ends a plan in good order: what goes on ends by itself, nothing else starts. Throws `plan_not_found`, `plan_state`. */
export const stopPlan = (deps: CommandDependencies, id: string): Promise<DrivenPlan> => command(deps, id, 'stop');

/** Ends a plan and what goes on. Throws `plan_not_found`, `plan_state`. */
export const abortPlan = (deps: CommandDependencies, id: string): Promise<DrivenPlan> => command(deps, id, 'abort');

/** Starts nothing new until `unpausePlan`. Throws `plan_not_found`, `plan_state`. */
export const pausePlan = (deps: CommandDependencies, id: string): Promise<DrivenPlan> => command(deps, id, 'pause');

export const unpausePlan = (deps: CommandDependencies, id: string): Promise<DrivenPlan> => command(deps, id, 'unpause');

/**
 * Goes on with a plan that has ended: with what was passed over, blocked or not triggered.
 * Throws `plan_not_found`, `plan_state`, `not_supported`.
 */
export function resumePlan(deps: CommandDependencies, id: string): Promise<DrivenPlan> {
  return command(deps, id, 'resume', async ({ trx }) => {
    await refuseForeign(trx, deps, id);
    await putBack(trx, id, STATUSES_PUT_BACK.resume, null);
  });
}

/**
 * Goes on with a plan that has failed: with what has failed, all of it or these nodes, and with what was blocked or not triggered.
 * Throws `plan_not_found`, `plan_state`, `node_not_found` with all names, `not_supported`.
 */
export function retryPlan(deps: CommandDependencies, id: string, nodes?: readonly string[]): Promise<DrivenPlan> {
  return command(deps, id, 'retry', async ({ trx }) => {
    await refuseForeign(trx, deps, id);
    await putBack(trx, id, STATUSES_PUT_BACK.retry, nodes === undefined ? null : await idsOf(trx, id, nodes));
  });
}

/** Gives a plan up for good. What it has not committed may be processed again. Throws `plan_not_found`, `plan_state`. */
export function abandonPlan(deps: CommandDependencies, id: string): Promise<DrivenPlan> {
  return command(deps, id, 'abandon', ({ trx }) => freeItems(trx, id));
}

/**
 * Removes a plan with its nodes, attempts and their runs, whose files follow. History and committed records stay.
 * Throws `plan_not_found`, `plan_state`, also where a lease is held whose run was not seen to be gone.
 */
export async function removePlan({ db }: Pick<CommandDependencies, 'db'>, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const plan = await held(trx, id);
    allows('delete', plan);
    const attempts = await findHeldAttempts(trx, id);
    if (attempts.length > 0) {
      throw musterError(
        'plan_state',
        `Plan ${id} has leases that are held, not verified: release attempt ${someOf(attempts)}`,
      );
    }
    await freeItems(trx, id);
    for (const attempt of await listClaimed(trx, id)) await deleteRuns(trx, { kind: ATTEMPT, id: attempt });
    await deleteStream(trx, id);
    await deletePlan(trx, id);
  });
}

interface Commanding {
  trx: Db;
  plan: DrivenPlan;
}

const WISHES: Partial<Readonly<Record<PlanCommand, PlanWish>>> = { stop: 'stop', abort: 'abort' };

async function command(
  { db, clock, actor, tell }: CommandDependencies,
  id: string,
  asked: PlanCommand,
  work: (commanding: Commanding) => Promise<void> = async () => undefined,
): Promise<DrivenPlan> {
  const plan = await db.transaction().execute(async (trx) => {
    const plan = await held(trx, id);
    if (!allows(asked, plan)) return plan;
    await work({ trx, plan });
    const starts = asked === 'run' || asked === 'resume' || asked === 'retry';
    if (starts) await updatePlan(trx, id, { counts: JSON.stringify(await countStatuses(trx, id)) });
    // Who has asked for the end of what goes on does not take it back by a stop.
    const wish = plan.wish === 'abort' ? 'abort' : WISHES[asked];
    const state = STATE_AFTER[asked];
    await commandPlan(trx, id, { command: asked, state, wish: starts ? null : wish, starts }, clock(), actor);
    return (await findPlan(trx, id)) ?? plan;
  });
  if (plan.state === 'running' || plan.state === 'paused') await tell([pokedPlan(id)]);
  return plan;
}

async function held(trx: Db, id: string): Promise<DrivenPlan> {
  const plan = isUuid(id) ? await lockPlan(trx, id) : null;
  if (plan === null) throw planNotFound(id);
  return plan;
}

export function planNotFound(id: string): MusterError {
  return musterError('plan_not_found', `There is no plan ${id.slice(0, 300)}`);
}

/** Settings may have changed since the plan was made. */
async function refuseForeign(
  trx: Db,
  { runner, allowsLocal }: Pick<CommandDependencies, 'runner' | 'allowsLocal'>,
  id: string,
): Promise<void> {
  const local = allowsLocal ? null : await findExecuting(trx, id, LOCALHOST);
  if (local !== null) throw musterError('not_supported', localText(local.id));
  const node = runner === 'local' ? null : await findExecuting(trx, id);
  if (node === null) return;
  throw musterError(
    'not_supported',
    `Handler ${node.handler} of node ${node.id} is not supported with MUSTER_RUNNER=kubernetes: workers in the cluster execute no actions`,
  );
}

/** Returns the ids of the nodes with these names. */
async function idsOf(trx: Db, plan: string, names: readonly string[]): Promise<string[]> {
  const found = await findNamed(trx, plan, names);
  const known = new Set(found.map(({ name }) => name));
  const missing = [...new Set(names)].filter((name) => !known.has(name));
  if (missing.length > 0) {
    const texts = missing.map((name) => ({
      code: 'node_not_found' as const,
      message: `The plan has no node ${name.slice(0, 300)}`,
    }));
    throw musterError('node_not_found', texts[0]?.message ?? '', 'nodes', texts.slice(0, 1_000));
  }
  return found.map(({ id }) => id);
}
