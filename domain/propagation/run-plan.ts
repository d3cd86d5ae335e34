/** Runs a plan on paper: attempts end as a script says, in rounds in which everything that may start starts and ends together. */
import { admit, byWeight, type Limits, type Waiting } from './admission.ts';
import { decide } from './decide.ts';
import type { Outcome } from './event-schema.ts';
import { resourceOf } from './node-id.ts';
import type { PlanIndex } from './plan-index.ts';
import type { GivenState, NodeStatus, NoopReason, PlanNode } from './plan-schema.ts';
import { type EdgeGroup, type Emitter, isSuccess, isTerminal } from './verdict.ts';

/** How a node stands. */
export interface NodeState {
  status: NodeStatus;
  outcome: Outcome | null;
  reason?: NoopReason | undefined;
  attempts: number;
}

export interface Script {
  /** State of a node before the run; undefined: pending. */
  initialOf(node: PlanNode): GivenState | undefined;
  /** Outcome of an attempt, counted from 1. */
  outcomeOf(node: PlanNode, attempt: number): Outcome;
  /** Further attempts after an attempt that has failed so. */
  retriesOf(node: PlanNode, outcome: Outcome): number;
  /** The definition of the node's resource, for limits. */
  typeOf(node: PlanNode): string | null;
  limits: Limits;
}

export interface PaperRun {
  /** By number of node. */
  states: NodeState[];
  /** Nodes that were to run at the beginning, before limits. */
  startable: string[];
  /** What each round started. */
  waves: string[][];
}

/** Runs the plan to its end. */
export function runPlan(index: PlanIndex, script: Script): PaperRun {
  const { nodes, followers } = index;
  const states = nodes.map((node) => stateOf(script.initialOf(node)));
  const open = openEmitters(index, states);
  const due: number[] = [];
  let fresh: Ready[] = [];
  const at = (node: number): NodeState => states[node] as NodeState;
  const readyOf = (node: number): Ready => waitingOf(nodes[node] as PlanNode, node, script);
  const settle = (node: number): void => {
    for (const follower of followers[node] ?? []) {
      open[follower] = (open[follower] ?? 0) - 1;
      if (open[follower] === 0 && at(follower).status === 'pending') due.push(follower);
    }
  };
  /** Decides what can be decided; a node that does not run is an end of its own. */
  const decideDue = (): void => {
    for (let node = due.pop(); node !== undefined; node = due.pop()) {
      const { status, reason } = decide((nodes[node] as PlanNode).origin, groupsInto(index, states, node));
      if (status === 'pending') fresh.push(readyOf(node));
      else {
        Object.assign(at(node), { status, reason });
        settle(node);
      }
    }
  };
  const end = (node: number): void => {
    Object.assign(at(node), attempted(nodes[node] as PlanNode, at(node), script));
    settle(node);
  };

  for (const node of nodes.keys()) {
    if (at(node).status === 'error_retry') fresh.push(readyOf(node));
    if (at(node).status === 'pending' && open[node] === 0) due.push(node);
  }
  decideDue();
  let running = nodes.flatMap((_, node) => (at(node).status === 'in_progress' ? [readyOf(node)] : []));
  let ready = fresh.sort(byWeight);
  const startable = ready.map(({ id }) => id);
  const waves: string[][] = [];
  while (ready.length > 0 || running.length > 0) {
    const admitted = admit(ready, running, script.limits);
    if (admitted.length + running.length === 0)
      throw new Error(`no limit may keep ${ready[0]?.id} from starting for ever`);
    if (admitted.length > 0) waves.push(admitted.map(({ id }) => id));
    fresh = [];
    for (const { number } of [...running, ...admitted]) end(number);
    decideDue();
    ready = merged(without(ready, admitted), fresh.sort(byWeight));
    running = [];
  }
  return { states, startable, waves };
}

interface Ready extends Waiting {
  number: number;
}

/** Returns the events into a node as decisions read them. */
export function groupsInto({ nodes, groups }: PlanIndex, states: readonly NodeState[], node: number): EdgeGroup[] {
  const emitter = (number: number): Emitter => {
    const { id, occurrence } = nodes[number] as PlanNode;
    const { status, outcome } = states[number] as NodeState;
    return { node: id, occurrence, status, outcome };
  };
  return (groups[node] ?? []).map(({ type, on, from }) => ({ type, on, from: from.map(emitter) }));
}

/** The state before the run. What ended without an outcome counts as the usual one; a node that did not have to run has none. */
function stateOf(given: GivenState | undefined): NodeState {
  const status = given?.status ?? 'pending';
  const reason = status === 'noop' ? (given?.reason ?? 'operator') : undefined;
  const usual = status === 'success' || reason === 'operator' ? 'changed' : status === 'error' ? 'failed' : null;
  const hasOutcome = usual !== null;
  const attempts = status === 'pending' || status === 'noop' || status === 'blocked' || status === 'skipped' ? 0 : 1;
  return { status, outcome: hasOutcome ? (given?.outcome ?? usual) : null, reason, attempts };
}

/** For each node how many of its incoming edges come from a node that has not ended. */
function openEmitters({ nodes, followers }: PlanIndex, states: readonly NodeState[]): number[] {
  const open = nodes.map(() => 0);
  for (const [node, list] of followers.entries()) {
    if (isTerminal((states[node] as NodeState).status)) continue;
    for (const follower of list) open[follower] = (open[follower] ?? 0) + 1;
  }
  return open;
}

function waitingOf(node: PlanNode, number: number, script: Script): Ready {
  const { id, base, weight, target } = node;
  return { number, id, weight, target, resource: resourceOf(base), type: script.typeOf(node) };
}

/** Makes attempts until one succeeds or none is left. An attempt in progress is the first. */
function attempted(node: PlanNode, state: NodeState, script: Script): NodeState {
  let attempts = state.status === 'in_progress' ? 0 : state.attempts;
  for (;;) {
    attempts += 1;
    const outcome = script.outcomeOf(node, attempts);
    if (isSuccess(outcome)) return { status: 'success', outcome, attempts };
    if (attempts > script.retriesOf(node, outcome)) return { status: 'error', outcome, attempts };
  }
}

function without(ready: readonly Ready[], admitted: readonly Ready[]): Ready[] {
  const gone = new Set(admitted);
  return ready.filter((node) => !gone.has(node));
}

/** Merges two sorted lists: sorting all of what waits in each round would cost more than the round. */
function merged(left: readonly Ready[], right: readonly Ready[]): Ready[] {
  if (right.length === 0) return [...left];
  const all: Ready[] = [];
  let [a, b] = [0, 0];
  while (a < left.length || b < right.length) {
    const [first, second] = [left[a], right[b]];
    if (second === undefined || (first !== undefined && byWeight(first, second) < 0)) {
      all.push(first as Ready);
      a += 1;
    } else {
      all.push(second);
      b += 1;
    }
  }
  return all;
}
