/** States of plans, and which command each of them allows. */
import { musterError } from '../errors.ts';
import type { NodeStatus, PlanResult } from './plan-schema.ts';

export const PLAN_STATES = ['built', 'running', 'paused', 'succeeded', 'failed', 'stopped', 'abandoned'] as const;
export type PlanState = (typeof PLAN_STATES)[number];

/** States in which the plan has a workflow. */
export const OPEN_PLAN_STATES = ['running', 'paused'] as const satisfies readonly PlanState[];

/** What the driver is to obey until the plan ends. */
export type PlanWish = 'stop' | 'abort';

/** Why a plan cannot go on by itself: another plan has a lease that it needs, or a machine with its runs is away. */
export type PlanWait = 'lease' | 'machine';

/** `due`: all emitters have ended, and it is to be decided; `ready`: it is to run and waits for room. */
export type NodeStep = 'due' | 'ready';

export const PLAN_COMMANDS = ['run', 'stop', 'abort', 'pause', 'unpause', 'resume', 'retry', 'abandon'] as const;
export type PlanCommand = (typeof PLAN_COMMANDS)[number];

const ENDED: readonly PlanState[] = ['succeeded', 'failed', 'stopped'] satisfies PlanResult[];
const CLOSED: readonly PlanState[] = ['built', ...ENDED, 'abandoned'];

/** States in which a command does something. */
const ALLOWED: Readonly<Record<PlanCommand | 'delete', readonly PlanState[]>> = {
  run: ['built'],
  stop: OPEN_PLAN_STATES,
  abort: OPEN_PLAN_STATES,
  pause: ['running'],
  unpause: ['paused'],
  resume: ENDED,
  retry: ['failed', 'stopped'],
  abandon: ['built', ...ENDED],
  delete: CLOSED,
};

/** States in which a command has been fulfilled already, and is no mistake. */
const FULFILLED: Partial<Readonly<Record<PlanCommand | 'delete', readonly PlanState[]>>> = {
  run: OPEN_PLAN_STATES,
  pause: ['paused'],
  unpause: ['running'],
  abandon: ['abandoned'],
};

/** State of a plan after a command that is allowed; what the driver does by itself stays with it. */
export const STATE_AFTER: Readonly<Partial<Record<PlanCommand, PlanState>>> = {
  run: 'running',
  pause: 'paused',
  unpause: 'running',
  resume: 'running',
  retry: 'running',
  abandon: 'abandoned',
};

/** Whether the plan has ended or was never started: it has no workflow. */
export const isClosed = (state: PlanState): boolean => CLOSED.includes(state);

/** Whether the staged items of a plan in this state are free again, as far as they are not committed. */
export const freesItems = (state: PlanState): boolean => state === 'succeeded' || state === 'abandoned';

/**
 * Whether a command is to be done; false where the plan is as the command wants it.
 * Throws `plan_state`.
 */
export function allows(command: PlanCommand | 'delete', plan: { id: string; state: PlanState }): boolean {
  if (ALLOWED[command].includes(plan.state)) return true;
  if (FULFILLED[command]?.includes(plan.state)) return false;
  throw musterError('plan_state', `Plan ${plan.id} is ${plan.state}: ${command} is for a plan in another state`);
}

/** Statuses that a command puts back to `pending`; those of an operator stay. */
export const STATUSES_PUT_BACK: Readonly<Record<'resume' | 'retry', readonly NodeStatus[]>> = {
  resume: ['skipped', 'blocked', 'noop'],
  retry: ['error', 'blocked', 'noop'],
};
