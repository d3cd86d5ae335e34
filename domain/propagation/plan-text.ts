/** Plans that a server keeps, as lines of text. */
import { someOf } from '../some-of.ts';
import type { NodeEvent } from './plan-request-schema.ts';
import type { PlanReport } from './plan-view-schema.ts';
import { summary } from './report.ts';
import { nodeLine, type ReportLine, reportText, summaryLine } from './report-text.ts';
import type { SimulateAnswer } from './simulate-schema.ts';

type ReportNode = PlanReport['nodes'][number];

/** Rounds of a simulation that are shown. */
const MOST_WAVES = 50;

/** Returns the report of a plan: a line for each node, how long it took, then what its loops and removals left. */
export function planReportText(report: PlanReport): string {
  const { nodes, recovered, unsettled, follow_up, is_cut } = report;
  const rest = [
    ...(is_cut ? ['Only nodes that did not end well are shown, 10,000 at most'] : []),
    ...endLines({ recovered, unsettled }),
    ...(follow_up.length === 0 ? [] : [`Staged by what was removed: ${someOf(follow_up)}`]),
  ];
  return `${reportText(nodes.map(lineOf), report)}${rest.map((line) => `${line}\n`).join('')}`;
}

/** What is said of a node behind its status. */
function lineOf({ node, status, message, reason, blocked_by }: ReportNode): ReportLine {
  const by = status === 'blocked' && blocked_by.length > 0 ? `by ${someOf(blocked_by)}` : null;
  return { node, status, message: oneLine(message ?? reason ?? by) };
}

/** Returns the line of a transition: when, which node, and how it stands now. */
export function nodeEventLine({ time, node, status, outcome, message, reason }: NodeEvent): string {
  const isUsual = outcome === null || outcome === 'changed';
  return `${time} ${nodeLine({ node, status, message: oneLine(message ?? reason ?? (isUsual ? null : outcome)) })}`;
}

const oneLine = (text: string | null): string | undefined => text?.trim().replace(/\s*\n\s*/g, ' ');

/** Returns what a simulation has answered as lines: how each node ended, what started together, the result. */
export function simulateAnswerText({ order, waves, run }: SimulateAnswer): string {
  if (order.length === 0) return 'Nothing to report\n';
  const lines = order.map((node) => {
    const [status, outcome] = [run.statuses[node] ?? 'pending', run.outcomes[node]];
    return nodeLine({ node, status, message: outcome === 'changed' ? undefined : outcome });
  });
  const rounds = waves.slice(0, MOST_WAVES).map((nodes, index) => `  ${index + 1}: ${someOf(nodes)}`);
  const more = waves.length > MOST_WAVES ? [`  ${waves.length - MOST_WAVES} more`] : [];
  const result = `Result: ${run.result} (${summaryLine(summary(run.statuses))})`;
  return [
    ...lines,
    ...(rounds.length === 0 ? [] : ['', 'Rounds:', ...rounds, ...more]),
    '',
    result,
    ...endLines(run),
    '',
  ].join('\n');
}

function endLines({ recovered, unsettled }: { recovered: readonly string[]; unsettled: readonly string[] }): string[] {
  return [
    ...(recovered.length === 0 ? [] : [`Recovered by the second run: ${someOf(recovered)}`]),
    ...(unsettled.length === 0 ? [] : [`Still changed something in the second run: ${someOf(unsettled)}`]),
  ];
}
