/** A whole plan on paper: staged actions and events are given, and how actions end; nothing is read or written elsewhere. */
import { type Mistake, musterError } from '../errors.ts';
import { DEFAULT_ITEMS } from './admission.ts';
import { buildPlan, type Plan, sortedEvents } from './build-plan.ts';
import type { Outcome, PropagationEvent } from './event-schema.ts';
import { refuseMistakes, renderEvent } from './event-text.ts';
import { readSubscriber } from './event-words.ts';
import { readEvents } from './given-events.ts';
import { givenFor } from './node-id.ts';
import { indexPlan, type PlanIndex } from './plan-index.ts';
import type { PlanNode } from './plan-schema.ts';
import { planEnd } from './result.ts';
import { type NodeState, type PaperRun, runPlan, type Script } from './run-plan.ts';
import { LATER_MEMBERS, type SimulateAnswer, type SimulateInput, SimulateInputSchema } from './simulate-schema.ts';

/** A simulation with what its texts need beside the answer. */
export interface Simulation extends PaperRun {
  events: PropagationEvent[];
  plan: Plan;
  index: PlanIndex;
  answer: SimulateAnswer;
}

/**
 * Simulates a plan. Throws `bad_request` for input of another form, `not_supported` with the name of a member that is not built,
 * the codes of events with their places, and `cycle_not_repeatable` with the members of the loop.
 */
export function simulate(input: SimulateInput): SimulateAnswer {
  return simulation(input).answer;
}

/** Simulates a plan as `simulate` does. Returns the plan and the run beside the answer. */
export function simulation(input: unknown): Simulation {
  const given = readInput(input);
  const events = sortedEvents(readEvents(given.events, given.staged, given.resources));
  refuseUnknownNodes(given);
  const { actions = {}, outcomes = {}, initial = {} } = given;
  const attributesOf = (base: string) => (Object.hasOwn(actions, base) ? actions[base] : undefined);
  const plan = buildPlan({ staged: given.staged, events, attributesOf });
  const index = indexPlan(plan);
  const run = runPlan(index, {
    initialOf: (node) => givenFor(initial, node),
    outcomeOf: (node, attempt) => scriptedOutcome(outcomes, node, attempt),
    retriesOf: ({ base }) => attributesOf(base)?.retry ?? 0,
    typeOf: ({ base }) => attributesOf(base)?.type || null,
    limits: { items: given.items ?? DEFAULT_ITEMS, types: given.type_limits ?? {} },
  });
  return { ...run, events, plan, index, answer: answerOf(events, plan, run) };
}

/** How actions end: a word for every attempt, or one word for each, of which the last one holds on. */
export type Outcomes = Readonly<Record<string, Outcome | readonly Outcome[]>>;

/** Returns the outcome that a script gives an attempt, counted from 1. */
export function scriptedOutcome(outcomes: Outcomes, node: PlanNode, attempt: number): Outcome {
  const words = givenFor(outcomes, node) ?? 'changed';
  return typeof words === 'string' ? words : (words[attempt - 1] ?? words.at(-1) ?? 'changed');
}

/** Simulates a plan that was built before. */
export function simulateBuilt(plan: Plan, events: readonly PropagationEvent[], script: Script): SimulateAnswer {
  return answerOf(events, plan, runPlan(indexPlan(plan), script));
}

/** Names of `outcomes`, `initial` and `actions` that no node of the plan has: they had no effect. */
export function unusedNames(input: SimulateInput, { nodes }: SimulateAnswer): string[] {
  const names = new Set(nodes.flatMap(({ id, base, occurrence }) => [id, base, `${base}#${occurrence}`]));
  const given = [input.outcomes, input.initial, input.actions].flatMap((record) => Object.keys(record ?? {}));
  return [...new Set(given)].filter((name) => !names.has(name)).sort();
}

function readInput(input: unknown): SimulateInput {
  const members = typeof input === 'object' && input !== null ? Object.keys(input) : [];
  const later = LATER_MEMBERS.find((member) => members.includes(member));
  if (later !== undefined) {
    throw musterError('not_supported', `${later} is not supported yet: leave it out`, later);
  }
  const read = SimulateInputSchema.safeParse(input);
  if (read.success) return read.data;
  const mistakes = read.error.issues.map(({ path, message }): Mistake => {
    const field = path.map(String).join('.');
    return { code: 'bad_request', message, ...(field === '' ? {} : { field }) };
  });
  const [first] = mistakes;
  throw musterError('bad_request', first?.message ?? 'the input has another form', first?.field, mistakes);
}

/** Refuses staged names that are no nodes, or whose resource is not among the given ones. */
function refuseUnknownNodes({ staged, resources }: SimulateInput): void {
  const model = { resources: resources === undefined ? undefined : new Set(resources) };
  const mistakes = staged.flatMap((node, index): Mistake[] => {
    const read = readSubscriber(node, model);
    if ('value' in read) return [];
    const code = read.code === 'event_syntax' ? 'bad_request' : read.code;
    return [{ code, message: read.message, field: `staged.${index}` }];
  });
  refuseMistakes(mistakes);
}

function answerOf(
  events: readonly PropagationEvent[],
  plan: Plan,
  { states, startable, waves }: PaperRun,
): SimulateAnswer {
  const order = plan.nodes.map(({ id }) => id);
  return {
    events: events.map((event) => ({ ...event, text: renderEvent(event) })),
    nodes: plan.nodes,
    edges: plan.edges,
    cycles: plan.cycles.map(({ members, head, repeated, closed_by }) => ({ members, head, repeated, closed_by })),
    suppressed: plan.suppressed,
    order,
    startable,
    waves,
    kept: order,
    run: runOf(plan.nodes, states),
  };
}

function runOf(nodes: readonly PlanNode[], states: readonly NodeState[]): SimulateAnswer['run'] {
  const ended = nodes.map((node, index) => ({ ...node, ...(states[index] as NodeState) }));
  return {
    statuses: Object.fromEntries(ended.map(({ id, status }) => [id, status])),
    outcomes: Object.fromEntries(ended.flatMap(({ id, outcome }) => (outcome === null ? [] : [[id, outcome]]))),
    attempts: Object.fromEntries(ended.map(({ id, attempts }) => [id, attempts])),
    ...planEnd(ended),
  };
}
