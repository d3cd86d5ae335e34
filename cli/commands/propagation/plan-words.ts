/** Nodes of plans and what is counted of them, in the words of text reports. */
import type { NodeEvent } from '../../../domain/propagation/plan-request-schema.ts';
import { NODE_STATUSES, type NodeStatus } from '../../../domain/propagation/plan-schema.ts';
import type { SimulateAnswer } from '../../../domain/propagation/simulate-schema.ts';
import { someOf } from '../../output/names.ts';

/** Rounds of a simulation that are shown. */
const MOST_WAVES = 50;

type Counts = Readonly<Record<NodeStatus, number>>;

const statusWord = (status: NodeStatus): string => (status === 'in_progress' ? 'INPROGRESS' : status.toUpperCase());

/** Returns the line of a node: `haproxy.reload -> BLOCKED :: message`. */
export function nodeLine(node: string, status: NodeStatus, message: string | null | undefined): string {
  const said = message?.trim().replace(/\s*\n\s*/g, ' ') ?? '';
  return `${node} -> ${statusWord(status)}${said === '' ? '' : ` :: ${said}`}`;
}

/** Returns `SUCCESS: 4 PENDING: 2`. Statuses without a node are left out. */
export function summaryLine(counts: Counts): string {
  const present = NODE_STATUSES.filter((status) => counts[status] > 0);
  return present.map((status) => `${statusWord(status)}: ${counts[status]}`).join(' ');
}

/** Returns the line of a transition: when, which node, and how it stands now. */
export function nodeEventLine({ time, node, status, outcome, message, reason }: NodeEvent): string {
  const isUsual = outcome === null || outcome === 'changed';
  return `${time} ${nodeLine(node, status, message ?? reason ?? (isUsual ? null : outcome))}`;
}

/** Returns what a simulation has answered as lines: how each node ended, what started together, the result. */
export function simulateAnswerText({ order, waves, run }: SimulateAnswer): string {
  if (order.length === 0) return 'Nothing to report\n';
  const lines = order.map((node) => {
    const [status, outcome] = [run.statuses[node] ?? 'pending', run.outcomes[node]];
    return nodeLine(node, status, outcome === 'changed' ? undefined : outcome);
  });
  const rounds = waves.slice(0, MOST_WAVES).map((nodes, index) => `  ${index + 1}: ${someOf(nodes)}`);
  const more = waves.length > MOST_WAVES ? [`  ${waves.length - MOST_WAVES} more`] : [];
  const statuses = Object.values(run.statuses);
  const counts = Object.fromEntries(
    NODE_STATUSES.map((status) => [status, statuses.filter((one) => one === status).length]),
  ) as Record<NodeStatus, number>;
  return [
    ...lines,
    ...(rounds.length === 0 ? [] : ['', 'Rounds:', ...rounds, ...more]),
    '',
    `Result: ${run.result} (${summaryLine(counts)})`,
    ...(run.recovered.length === 0 ? [] : [`Recovered by the second run: ${someOf(run.recovered)}`]),
    ...(run.unsettled.length === 0 ? [] : [`Still changed something in the second run: ${someOf(run.unsettled)}`]),
    '',
  ].join('\n');
}
