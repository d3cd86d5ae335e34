/** One step of a plan: what has ended is taken in, what follows is decided, what may start is handed out. Any number of times is as good as once. */

import { afterAttempt, isGivenUp, outcomeOfIdle } from '../../domain/propagation/attempt-end.ts';
import { decide } from '../../domain/propagation/decide.ts';
import type { NodeStatus } from '../../domain/propagation/plan-schema.ts';
import { isClosed } from '../../domain/propagation/plan-states.ts';
import { restText, retriesAfter, retryAt } from '../../domain/propagation/retry.ts';
import { settlementOf } from '../../domain/propagation/settlement.ts';
import { aggregateOf, isTerminal } from '../../domain/propagation/verdict.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetWaits, type Ready } from '../../store/propagation/leases.ts';
import { endAttempt, listUntaken, markAway, markTaken, wantEnds } from '../../store/propagation/plan-attempts.ts';
import { markSettlements } from '../../store/propagation/plan-items.ts';
import {
  countStatuses,
  findDue,
  findGroups,
  findNodes,
  findOccurrences,
  findReadyIdle,
  type NodeChange,
  settleFollowers,
  skipOpen,
  writeNodes,
} from '../../store/propagation/plan-nodes.ts';
import type { AttemptRow, DrivenPlan, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { lockPlan, updatePlan } from '../../store/propagation/plans.ts';
import { admitAttempts } from './admit-attempts.ts';
import { settleItems } from './commit-item.ts';
import type { StepDependencies } from './dependencies.ts';
import { endPlan } from './end-plan.ts';
import { changeOf } from './node-change.ts';
import { noteWait } from './note-wait.ts';

export interface AdvanceRequest {
  plan: string;
  /** Attempts that the caller watches. */
  own: readonly string[];
  /** Attempts whose machine did not take them. */
  away: readonly string[];
}

export interface AdvanceAnswer {
  /** The plan has ended, or is gone. */
  isOver: boolean;
  /** There is more to do at once. */
  more: boolean;
  /** Attempts to watch: all open ones that the caller does not. `machine`: the only one that has the files, null where none has. */
  attempts: { attempt: string; machine: string | null }[];
  /** Time (ms) until the next look, if nothing is heard. */
  waitMs: number;
  /** A sentence for who looks at the workflow alone. */
  summary: string;
}

/** Nodes that one step decides at most, and the queries in which it does. */
const MOST_NODES = 2_000;
const MOST_ROUNDS = 200;
const SLICE = 500;
/** Time (ms) until the next look where something waits for others, and where nothing does. */
const WAIT_MS = 30_000;
const REST_MS = 300_000;
/** A node that is tried again soon is looked for no oftener. */
const LEAST_WAIT_MS = 100;

const NOTHING_LEFT: Ready = { waits: false, retry_at: null };

const OVER: AdvanceAnswer = { isOver: true, more: false, attempts: [], waitMs: REST_MS, summary: 'the plan is over' };

/** Brings a plan one step further. */
export async function advance(deps: StepDependencies, request: AdvanceRequest): Promise<AdvanceAnswer> {
  const answer = await deps.db.transaction().execute((trx) => decideStep(trx, request, deps.clock()));
  if (answer.isOver) return answer;
  const isLeft = await settleItems(deps, request.plan);
  if (answer.more || isLeft) return { ...answer, more: true };
  return (await endPlan(deps, request.plan)) ? { ...OVER, attempts: [] } : answer;
}

/** What a step has in hand. */
interface Step {
  trx: Db;
  plan: DrivenPlan;
  now: Date;
  /** Whether something may start. */
  starts: boolean;
}

async function decideStep(trx: Db, { plan: id, own, away }: AdvanceRequest, now: Date): Promise<AdvanceAnswer> {
  const plan = await lockPlan(trx, id);
  if (plan === null || isClosed(plan.state)) return OVER;
  const step: Step = { trx, plan, now, starts: plan.state === 'running' && plan.wish === null };
  if (!plan.heard) await hear(step);
  await markAway(trx, id, away, now);
  const isCut = await follow(step, await takeEnded(step));
  const left = step.starts && !isCut ? await admitAttempts(trx, plan, now) : NOTHING_LEFT;
  if (!step.starts) await forgetWaits(trx, id);
  await updatePlan(trx, id, { heard: true, counts: JSON.stringify(plan.counts) });
  const open = (await listUntaken(trx, id)).filter(({ state }) => state === 'open');
  const watched = new Set(own);
  const { pending, in_progress, error_retry } = plan.counts;
  await noteWait(trx, plan, { open, waitsForLease: left.waits }, now);
  const isAway = open.some(({ away_since }) => away_since !== null);
  return {
    isOver: false,
    more: isCut,
    attempts: open.flatMap(({ id: attempt, machine }) => (watched.has(attempt) ? [] : [{ attempt, machine }])),
    waitMs: pauseAfter(left, isAway, now),
    summary: `${pending + error_retry} nodes to do, ${in_progress} in progress${plan.state === 'paused' ? ', paused' : ''}`,
  };
}

function pauseAfter({ waits, retry_at }: Ready, isAway: boolean, now: Date): number {
  const most = waits || isAway ? WAIT_MS : REST_MS;
  return retry_at === null ? most : Math.min(most, Math.max(LEAST_WAIT_MS, retry_at.getTime() - now.getTime()));
}

/** Obeys what a user has asked for since the last step. */
async function hear({ trx, plan, now }: Step): Promise<void> {
  if (plan.wish === null) return;
  await skipOpen(trx, plan.id, now);
  if (plan.wish === 'abort') await wantEnds(trx, plan.id);
  plan.counts = await countStatuses(trx, plan.id);
}

/** Makes of ended attempts what they mean for their nodes. Returns the nodes that have ended by that. */
async function takeEnded({ trx, plan, now }: Step): Promise<PlanNodeRow[]> {
  const untaken = await listUntaken(trx, plan.id);
  const known = await findNodes(trx, plan.id, [...new Set(untaken.map(({ node }) => node))]);
  const nodes = new Map(known.map((node) => [node.number, node]));
  const changes: NodeChange[] = [];
  const ended: PlanNodeRow[] = [];
  const taken: string[] = [];
  for (const attempt of await withGivenUp(trx, untaken, nodes, now)) {
    if (attempt.state === 'open') continue;
    taken.push(attempt.id);
    const node = nodes.get(attempt.node);
    // A result counts for the current attempt of its node alone.
    if (node === undefined || node.attempt !== attempt.id || node.status !== 'in_progress') continue;
    const change = changeAfter(plan, node, attempt, now);
    move(plan, node.status, change.status);
    changes.push(change);
    if (isTerminal(change.status)) ended.push({ ...node, status: change.status, outcome: change.outcome });
  }
  await writeNodes(trx, plan.id, changes);
  await markTaken(trx, taken);
  return ended;
}

/** Ends the attempts whose machines have been away for too long; nobody has seen their runs to be gone. */
async function withGivenUp(
  trx: Db,
  attempts: readonly AttemptRow[],
  nodes: ReadonlyMap<number, PlanNodeRow>,
  now: Date,
): Promise<AttemptRow[]> {
  const seen: AttemptRow[] = [];
  for (const attempt of attempts) {
    const timeout = nodes.get(attempt.node)?.rules.timeout ?? 0;
    if (attempt.state === 'ended' || !isGivenUp(attempt, timeout, now)) {
      seen.push(attempt);
      continue;
    }
    const message = `machine ${attempt.machine} is away: the end of the run is not verified`;
    const end = { outcome: 'error' as const, code: 'run_lost', message, verified: false };
    const isWritten = await endAttempt(trx, attempt.id, end, now);
    // Another end was written meanwhile: the next step takes it.
    if (isWritten) seen.push({ ...attempt, ...end, state: 'ended', ended_at: now });
  }
  return seen;
}

function changeAfter(plan: DrivenPlan, node: PlanNodeRow, attempt: AttemptRow, now: Date): NodeChange {
  const ended = attempt.outcome ?? 'error';
  const { status, outcome } = afterAttempt(
    { outcome: ended, verified: attempt.verified, endWanted: attempt.end_wanted },
    {
      made: node.attempts - node.attempts_before,
      retry: retriesAfter(node.rules, ended),
      creates: node.creates,
      isStopping: plan.wish !== null,
    },
  );
  const isTried = status === 'error_retry';
  return changeOf(node, {
    ...{
      status,
      outcome: isTried ? null : outcome,
      step: isTried ? 'ready' : null,
      ready_at: isTried ? retryAt(node.rules, now) : null,
    },
    ...{ reason: isTried ? restText(node.rules, now) : null, message: attempt.message, code: attempt.code },
    end_time: isTried ? null : (attempt.ended_at ?? now),
  });
}

/** Follows what has ended, as far as nothing has to be executed. Returns whether there is more of it. */
async function follow(step: Step, first: readonly PlanNodeRow[]): Promise<boolean> {
  const { trx, plan, starts } = step;
  let ended = first;
  let nodes = 0;
  for (let round = 0; round < MOST_ROUNDS && nodes < MOST_NODES; round++) {
    await settle(step, ended);
    const due = await findDue(trx, plan.id, SLICE);
    const idle = due.length > 0 || !starts ? [] : await findReadyIdle(trx, plan.id, SLICE);
    if (due.length + idle.length === 0) return false;
    nodes += due.length + idle.length;
    ended = await write(step, [...(await decided(step, due)), ...idle.map((node) => idleEnd(step, node))]);
  }
  await settle(step, ended);
  return true;
}

type Decided = [node: PlanNodeRow, change: NodeChange];

async function decided(step: Step, due: readonly PlanNodeRow[]): Promise<Decided[]> {
  if (due.length === 0) return [];
  const { trx, plan, now, starts } = step;
  const groups = await findGroups(
    trx,
    plan.id,
    due.map(({ number }) => number),
  );
  return due.map((node): Decided => {
    const decision = decide(node.origin, groups.get(node.number) ?? []);
    if (!decision.isDecided) throw new Error(`node ${node.id} is due before its emitters have ended`);
    const { status, reason = null, triggered_by, blocked_by } = decision;
    const told = { ...node, triggered_by, blocked_by };
    if (status !== 'pending') return [node, changeOf(told, { status, reason, step: null, end_time: now })];
    if (node.is_idle && starts) return idleEnd(step, told);
    return [node, changeOf(told, { step: 'ready', ready_at: now })];
  });
}

/** What executes nothing ends at once. */
function idleEnd({ now }: Step, node: PlanNodeRow): Decided {
  const times = { start_time: now, end_time: now };
  return [
    node,
    changeOf(node, { status: 'success', outcome: outcomeOfIdle(node), step: null, ready_at: null, ...times }),
  ];
}

/** Writes changes down. Returns the nodes that have ended by them. */
async function write({ trx, plan }: Step, all: readonly Decided[]): Promise<PlanNodeRow[]> {
  await writeNodes(
    trx,
    plan.id,
    all.map(([, change]) => change),
  );
  for (const [node, { status }] of all) move(plan, node.status, status);
  return all.flatMap(([node, { status, outcome }]) => (isTerminal(status) ? [{ ...node, status, outcome }] : []));
}

/** Tells the followers of nodes that have ended, and marks the items whose actions have ended for good. */
async function settle({ trx, plan }: Step, ended: readonly PlanNodeRow[]): Promise<void> {
  await settleFollowers(
    trx,
    plan.id,
    ended.map(({ number }) => number),
  );
  const bases = [...new Set(ended.flatMap(({ base, has_item }) => (has_item ? [base] : [])))];
  const occurrences = await findOccurrences(trx, plan.id, bases);
  const settlements = bases.flatMap((base) => {
    const own = occurrences.filter((one) => one.base === base).map(({ id, ...one }) => ({ node: id, ...one }));
    if (!own.every(({ status }) => isTerminal(status))) return [];
    const settles = settlementOf(aggregateOf(own));
    return settles === null ? [] : [{ base, settles }];
  });
  await markSettlements(trx, plan.id, settlements);
}

function move({ counts }: DrivenPlan, from: NodeStatus, to: NodeStatus): void {
  counts[from] -= 1;
  counts[to] += 1;
}
