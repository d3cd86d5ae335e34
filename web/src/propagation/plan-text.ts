/** Plans and their nodes in words. */
import type { Explanation } from '../../../domain/propagation/plan-schema.ts';
import type { PlanNodeView, PlanView } from '../../../domain/propagation/plan-view-schema.ts';

/** Returns counts as `4 success, 1 blocked`; statuses without a node are left out. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/** Returns how many nodes a plan has. */
export const sizeOf = ({ summary }: Pick<PlanView, 'summary'>): number =>
  Object.values(summary).reduce((sum, count) => sum + count, 0);

/** Returns the number of the loop that an action is part of, from 1; null: of none. */
export function loopOf({ cycles }: Pick<PlanView, 'cycles'>, { base }: Pick<PlanNodeView, 'base'>): number | null {
  const place = cycles.findIndex(({ members }) => members.includes(base));
  return place < 0 ? null : place + 1;
}

/** Returns in one sentence how a plan stands, and what would change that. */
export function whyText({ state, wish, summary }: Pick<PlanView, 'state' | 'wish' | 'summary'>): string {
  if (wish !== null && (state === 'running' || state === 'paused')) {
    return wish === 'stop'
      ? 'It is to stop: what is in progress finishes, and nothing else starts'
      : 'It is to end at once, with what is in progress';
  }
  switch (state) {
    case 'built':
      return 'It was not started yet';
    case 'running':
      return summary.in_progress + summary.error_retry === 0
        ? 'It waits: the nodes that are next say for what'
        : 'Its nodes run';
    case 'paused':
      return 'Nothing new of it starts until it goes on';
    case 'succeeded':
      return 'All of its nodes have ended well, or had nothing to do';
    case 'failed':
      return `${summary.error} ${summary.error === 1 ? 'node' : 'nodes'} failed, and ${summary.blocked} wait for that`;
    case 'stopped':
      return 'It was ended before all of its nodes had run';
    case 'abandoned':
      return 'It was given up for good';
  }
}

/** Returns why a node stands as it does, as far as it says. */
export function reasonText({
  reason,
  message,
  code,
  blocked_by: by,
}: Pick<PlanNodeView, 'reason' | 'message' | 'code' | 'blocked_by'>): string {
  const blocked = by.length === 0 ? '' : `blocked by ${by.join(', ')}`;
  return [reason, message, code, blocked].filter((text) => text !== null && text !== '').join('; ');
}

/** What users ask of a plan. */
export type PlanVerb = 'run' | 'pause' | 'unpause' | 'stop' | 'abort' | 'resume' | 'retry' | 'abandon' | 'delete';

const [CLOSED, OPEN] = [
  ['built', 'succeeded', 'failed', 'stopped', 'abandoned'],
  ['running', 'paused'],
];
/** States in which a verb does something; what the API says of it counts. */
const ALLOWED: Readonly<Record<PlanVerb, readonly string[]>> = {
  run: ['built'],
  pause: ['running'],
  unpause: ['paused'],
  stop: OPEN,
  abort: OPEN,
  resume: ['succeeded', 'failed', 'stopped'],
  retry: ['failed', 'stopped'],
  abandon: ['built', 'succeeded', 'failed', 'stopped'],
  delete: CLOSED,
};

/** Returns why a verb does nothing now; null: it does something. */
export function verbRefusal(verb: PlanVerb, { state }: Pick<PlanView, 'state'>): string | null {
  return ALLOWED[verb].includes(state) ? null : `It is ${state}`;
}

type Incoming = Explanation['incoming'][number];

const VERDICTS: Readonly<Record<NonNullable<Incoming['verdict']>, string>> = {
  fire: 'lets it run',
  quiet: 'does not ask for it',
  block: 'keeps it from running',
};

/** Returns what came to a node along one edge. */
export function incomingText({ from, type, on, aggregate, verdict }: Incoming): string {
  const condition = on === null ? type : `${type}, on ${on}`;
  const ended = aggregate === null ? 'has not ended' : `ended with ${aggregate}`;
  return `${from.join(', ')} (${condition}) ${ended}${verdict === null ? '' : `, which ${VERDICTS[verdict]}`}`;
}

const ORIGINS: Readonly<Record<Explanation['origin'], string>> = {
  staged: 'A user changed it',
  reaction: 'An event asks for it',
  repeat: 'It is the second pass of a loop',
  control: 'It is a gate of the plan',
};

/** Returns why a node is in its plan at all. */
export const originText = (origin: Explanation['origin']): string => ORIGINS[origin];
