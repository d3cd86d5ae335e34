/** Plans that a server keeps, as lines of text. */
import { someOf } from '../some-of.ts';
import type { PlanReport } from './plan-view-schema.ts';
import { type ReportLine, reportText } from './report-text.ts';

type ReportNode = PlanReport['nodes'][number];

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

const oneLine = (text: string | null): string | undefined => text?.trim().replace(/\s*\n\s*/g, ' ');

function endLines({ recovered, unsettled }: { recovered: readonly string[]; unsettled: readonly string[] }): string[] {
  return [
    ...(recovered.length === 0 ? [] : [`Recovered by the second run: ${someOf(recovered)}`]),
    ...(unsettled.length === 0 ? [] : [`Still changed something in the second run: ${someOf(unsettled)}`]),
  ];
}
