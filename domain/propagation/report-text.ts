/** A plan as lines of text. This form alone writes statuses in capitals. */
import { someOf } from '../some-of.ts';
import type { ExplainedCycle } from './build-plan.ts';
import type { HeadRule } from './key-order.ts';
import { NODE_STATUSES, type NodeStatus } from './plan-schema.ts';
import type { Summary, Totals } from './report.ts';

/** Steps of a way around a loop that are shown. */
const LONGEST_WAY = 20;

export interface ReportLine {
  node: string;
  status: NodeStatus;
  message?: string | undefined;
}

const RULES: Readonly<Record<HeadRule, string>> = {
  'only-candidate': 'nothing else starts the loop',
  'repeat-priority': 'its repeat_priority is the highest',
  outside: 'it has the longest chain of prerequisites outside of the loop',
  inside: 'it has the most prerequisites inside of the loop',
  name: 'its name is the first of equals',
  'not-repeatable': 'with any head before it, an action would run twice that may not be repeated',
};

/** Returns a status as text reports write it. */
export const statusWord = (status: NodeStatus): string =>
  status === 'in_progress' ? 'INPROGRESS' : status.toUpperCase();

/** Returns the line of a node: `haproxy.reload -> BLOCKED :: message`. */
export function nodeLine({ node, status, message }: ReportLine): string {
  const said = message === undefined || message === '' ? '' : ` :: ${message}`;
  return `${node} -> ${statusWord(status)}${said}`;
}

/** Returns the report of a plan: a line for each node, then how long it took. */
export function reportText(nodes: readonly ReportLine[], { total_delta, total_time }: Totals): string {
  if (nodes.length === 0) return 'Nothing to report\n';
  return `${[...nodes.map(nodeLine), `Total Delta: ${total_delta}`, `Total Time: ${total_time}`].join('\n')}\n`;
}

/** Returns the line that shows how far a plan is: `SUCCESS: 4 PENDING: 2`. Statuses without a node are left out. */
export function summaryLine(counts: Summary): string {
  const present = NODE_STATUSES.filter((status) => counts[status] > 0);
  return present.map((status) => `${statusWord(status)}: ${counts[status]}`).join(' ');
}

/** Returns lines on how a loop was resolved: which action goes first and why, a way around it, and the pairs that closed it. */
export function cycleText({ head, repeated, rule, path, closed_by }: ExplainedCycle): string[] {
  const again = repeated.length === 0 ? 'nothing runs twice' : `run twice: ${someOf(repeated)}`;
  const way =
    path.length > LONGEST_WAY
      ? [...path.slice(0, LONGEST_WAY), `... ${path.length - LONGEST_WAY} more`, head]
      : [...path, head];
  const pairs = closed_by.map(([from, to]) => `${from} -> ${to}`);
  return [
    `${head} goes first: ${RULES[rule]}; ${again}`,
    `  way round: ${way.join(' -> ')}`,
    `  closed by: ${someOf(pairs)}`,
  ];
}
