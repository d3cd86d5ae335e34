import { setTimeout as pause } from 'node:timers/promises';
import type { NodeEvent, PlanStreamEnd } from '../../../domain/propagation/plan-request-schema.ts';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { eventStream } from '../../client/event-stream.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { absentWorker } from '../../follow/absent-worker.ts';
import { duration } from '../../output/times.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import { nodeLine, summaryLine } from './plan-words.ts';
import { painted } from './status-colours.ts';

/** How often the counts are read (ms). */
const PERIOD = 3_000;
const LONGEST_TIMER = 2 ** 31 - 1;
const CLEAR_LINE = '\r\u001b[K';

export interface FollowPlanOptions {
  /** Number of the last transition before the plan was started. */
  after: number;
  /** Seconds after which following stops; the plan goes on. */
  timeout?: number | undefined;
  /** Following stops at the first node that fails; the plan goes on. */
  untilError?: boolean | undefined;
}

/** How following has ended: with the plan, at a node that failed, or by Ctrl-C. */
export type Followed = { end: PlanStreamEnd } | { failed: string } | { detached: true };

/** Returns the number of the last transition of a plan. */
export async function lastTransition(api: ApiClient, path: string): Promise<number> {
  const query = { tail: 1 };
  return (await api.json<{ cursor: number }>({ method: 'GET', path: `${path}/events`, query })).cursor;
}

/**
 * Follows a plan to its end on stderr: a line of counts, and a message for each node that fails. An API that goes away is waited for.
 * Throws `timed_out` after the timeout.
 */
export async function followPlan(
  context: CliContext,
  api: ApiClient,
  path: string,
  { after, timeout, untilError = false }: FollowPlanOptions,
): Promise<Followed> {
  const over = new AbortController();
  const late = timeout === undefined ? undefined : AbortSignal.timeout(Math.min(timeout * 1_000, LONGEST_TIMER));
  const signal = AbortSignal.any([context.signal, over.signal, ...(late === undefined ? [] : [late])]);
  const line = openLine(context);
  let end: PlanStreamEnd | undefined;
  let failed: string | undefined;
  const counting = showCounts(api, path, signal, line, absentWorker(context, api, line.note));
  try {
    const connection = {
      ...{ query: { after }, signal },
      onEnd: (data: string) => {
        end = JSON.parse(data) as PlanStreamEnd;
      },
      onLost: (failure: CliFailure) => line.note(`${failure.message}; the plan goes on, trying again`),
      onBack: () => line.note('the API answers again'),
    };
    for await (const { data } of eventStream(api, `${path}/events`, connection)) {
      const { node, status, message } = JSON.parse(data) as NodeEvent;
      if (status !== 'error') continue;
      line.note(oneLine(nodeLine(node, status, message)));
      failed ??= node;
      if (untilError) break;
    }
  } finally {
    over.abort();
    await counting;
    line.close();
  }
  if (end !== undefined) return { end };
  if (untilError && failed !== undefined) return { failed };
  if (context.signal.aborted) return { detached: true };
  throw new CliFailure(
    'timed_out',
    `the plan has not ended within ${duration((timeout ?? 0) * 1_000)}; it goes on`,
    EXIT.timedOut,
  );
}

async function showCounts(
  api: ApiClient,
  path: string,
  signal: AbortSignal,
  line: Line,
  lookForWorkers: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { state, summary } = await api.json<PlanView>({ method: 'GET', path }, signal);
      line.show(`${summaryLine(summary)}${state === 'paused' ? ' (paused)' : ''}`);
      if (state === 'running') await lookForWorkers();
    } catch (error) {
      // The stream says what is wrong with the API, and throws what is refused.
      if (!(error instanceof CliFailure)) throw error;
    }
    await pause(PERIOD, undefined, { signal }).catch(() => undefined);
  }
}

interface Line {
  show(text: string): void;
  note(text: string): void;
  close(): void;
}

/** On a terminal one line that changes; elsewhere a line when it has changed. */
function openLine(context: CliContext): Line {
  const { err } = context;
  let shown = '';
  if (!err.terminal) {
    return {
      show: (text) => {
        if (text !== shown) say(context, text);
        shown = text;
      },
      note: (text) => say(context, text),
      close: () => undefined,
    };
  }
  const draw = () => err.write(`${CLEAR_LINE}${painted(err, shown.slice(0, Math.max(0, err.columns() - 1)))}`);
  return {
    show: (text) => {
      shown = text;
      draw();
    },
    note: (text) => {
      err.write(CLEAR_LINE);
      say(context, text);
      draw();
    },
    close: () => err.write(CLEAR_LINE),
  };
}
