/** A simulation for people: how each node ended, what started together, how loops were resolved, why a node ran or did not. */
import { someOf } from '../some-of.ts';
import { decide } from './decide.ts';
import { renderEvent } from './event-text.ts';
import { explain } from './explain.ts';
import { type GraphCut, graphDot, graphTree, graphView } from './graph-text.ts';
import type { Explanation } from './plan-schema.ts';
import { summary } from './report.ts';
import { cycleText, nodeLine, summaryLine } from './report-text.ts';
import { groupsInto, type NodeState } from './run-plan.ts';
import type { Simulation } from './simulate.ts';

/** Rounds that are shown. */
const MOST_WAVES = 50;

/** Returns the report: a line for each node in canonical order, then rounds, loops, suppressed events and the result. */
export function simulationText(simulation: Simulation): string {
  const { plan, answer, waves, states } = simulation;
  if (plan.nodes.length === 0) return 'Nothing to report\n';
  const lines = plan.nodes.map(({ id }, number) => {
    const state = states[number] as NodeState;
    return nodeLine({ node: id, status: state.status, message: messageOf(simulation, number, state) });
  });
  const rounds = waves.slice(0, MOST_WAVES).map((nodes, index) => `  ${index + 1}: ${someOf(nodes)}`);
  const { result, recovered, unsettled } = answer.run;
  return [
    ...lines,
    ...titled('Rounds:', [...rounds, ...(waves.length > MOST_WAVES ? [`  ${waves.length - MOST_WAVES} more`] : [])]),
    ...titled(
      'Loops:',
      plan.cycles.flatMap((cycle) => cycleText(cycle).map((line) => `  ${line}`)),
    ),
    ...titled(
      'Suppressed:',
      plan.suppressed.map((event) => `  ${renderEvent(event)} (${event.reason})`),
    ),
    '',
    `Result: ${result} (${summaryLine(summary(answer.run.statuses))})`,
    ...(recovered.length === 0 ? [] : [`Recovered by the second run: ${someOf(recovered)}`]),
    ...(unsettled.length === 0 ? [] : [`Still changed something in the second run: ${someOf(unsettled)}`]),
    '',
  ].join('\n');
}

const titled = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', title, ...lines]);

/** What a status does not tell by itself. */
function messageOf({ index, plan, states }: Simulation, number: number, state: NodeState): string | undefined {
  if (state.status === 'blocked') {
    const { blocked_by } = decide(plan.nodes[number]?.origin ?? 'staged', groupsInto(index, states, number));
    return `by ${someOf(blocked_by)}`;
  }
  if (state.status === 'noop') return state.reason;
  const tries = state.attempts > 1 ? `, ${state.attempts} attempts` : '';
  const isUsual = state.outcome === 'changed' && tries === '';
  return state.outcome === null || isUsual ? undefined : `${state.outcome}${tries}`;
}

/** Returns the graph as a tree or in the language of Graphviz. Throws `graph_too_large`, `node_not_found`. */
export function simulationGraph({ plan, answer }: Simulation, form: 'tree' | 'dot', cut?: GraphCut): string {
  const view = graphView({ ...plan, statuses: answer.run.statuses }, cut);
  return form === 'dot' ? graphDot(view) : graphTree(view);
}

/** Explains one node of a simulation. Throws `node_not_found`. */
export function explainSimulated({ index, states, plan }: Simulation, node: string): Explanation {
  return explain(node, index, states, plan.suppressed);
}

/** Returns an explanation as lines of text. */
export function explanationText({ node, origin, chain, incoming, decision }: Explanation): string {
  const steps = (chain ?? []).map(({ from, event, to }) => `  ${from} -> ${to}: ${event}`);
  const events = incoming.map(({ from, type, on, aggregate, verdict }) => {
    const condition = type === 'sequence' ? 'first run' : `${type === 'react_on' ? 'on' : 'after'} ${on}`;
    return `  ${from.join(' and ')} (${condition}): ${verdict === null ? 'open' : `${aggregate}, ${verdict}`}`;
  });
  const fired = decision.triggered_by.map((trigger) => `${trigger.node} (${trigger.outcome})`);
  return [
    `${node}: ${origin}`,
    ...titled('Comes into the plan by:', chain === null ? ['  the way is too long to look for'] : steps),
    ...titled('Waits for:', events),
    '',
    `Decision: ${decision.status}${decision.reason === undefined ? '' : `, ${decision.reason}`}`,
    ...(fired.length === 0 ? [] : [`Triggered by: ${someOf(fired)}`]),
    ...(decision.blocked_by.length === 0 ? [] : [`Blocked by: ${someOf(decision.blocked_by)}`]),
    '',
  ].join('\n');
}
