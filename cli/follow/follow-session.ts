import { setTimeout as pause } from 'node:timers/promises';
import type { SessionDetail, SessionProgress, StreamEnd } from '../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../client/api-client.ts';
import { eventStream } from '../client/event-stream.ts';
import type { CliContext } from '../context.ts';
import { CliFailure, EXIT } from '../failure.ts';
import { duration } from '../output/times.ts';
import { type Display, openDisplay } from './display.ts';
import { type EventAnswer, eventLine } from './event-line.ts';

/** How often the place in the queue is asked for (ms). */
const QUEUE_PERIOD = 2000;
/** Longest time (ms) that Node's timers know: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface FollowOptions {
  /** Seconds after which following stops; the session goes on. */
  timeout?: number | undefined;
  /** Since when that counts, milliseconds since 1970; since now unless it is for several sessions together. */
  since?: number;
}

/** How to go on with a session that this command leaves alone. */
export const goingOn = (name: string): string =>
  `follow it with \`./muster session logs -f ${name}\`, end it with \`./muster session cancel ${name}\``;

/**
 * Follows a session to its end on stderr. An API that goes away is waited for: the session does not need this command.
 * Answers undefined after Ctrl-C; throws `timed_out` after the timeout, and `session_not_found` when it is deleted.
 */
export async function followSession(
  context: CliContext,
  api: ApiClient,
  name: string,
  options: FollowOptions,
): Promise<StreamEnd | undefined> {
  const path = `/api/v1/sessions/${segment(name)}`;
  const timeout = timeoutOf(context, options);
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal, ...(timeout ? [timeout] : [])]);
  const display = openDisplay(context);
  let end: StreamEnd | undefined;
  const connection = {
    ...connectionNotes(display),
    signal,
    onEnd: (data: string) => {
      end = JSON.parse(data) as StreamEnd;
    },
  };
  const progress = async (): Promise<void> => {
    let id: string | undefined;
    for await (const { data } of eventStream(api, `${path}/progress`, connection)) {
      const news = JSON.parse(data) as SessionProgress;
      // After a break the name may belong to another session.
      if (id !== undefined && news.id !== id) throw deleted(name);
      id = news.id;
      display.update({ progress: news });
    }
  };
  const failures = async (): Promise<void> => {
    for await (const { data } of eventStream(api, `${path}/events`, connection)) {
      const line = eventLine(JSON.parse(data) as EventAnswer);
      if (line !== undefined) display.note(line);
    }
  };
  const details = readDetails(api, path, signal, display);
  try {
    await untilBoth(progress(), failures(), () => over.abort());
  } finally {
    over.abort();
    await details;
    display.close();
  }
  if (end?.deleted) throw deleted(name);
  if (end !== undefined || context.signal.aborted) return end;
  throw new CliFailure(
    'timed_out',
    `session ${name} has not ended within ${duration((options.timeout ?? 0) * 1000)}; it goes on`,
    EXIT.timedOut,
    goingOn(name),
  );
}

/** Aborts when the time to follow is over; undefined where it has no end. */
function timeoutOf(context: CliContext, { timeout, since = context.now() }: FollowOptions): AbortSignal | undefined {
  if (timeout === undefined) return undefined;
  const left = Math.ceil(since + timeout * 1000 - context.now());
  return AbortSignal.timeout(Math.min(Math.max(0, left), LONGEST_TIMER));
}

const deleted = (name: string): CliFailure =>
  new CliFailure('session_not_found', `session ${name} was deleted`, EXIT.notFound);

/** Waits for both; the first that is refused ends the other by `stop`, and its error is thrown. */
async function untilBoth(one: Promise<void>, other: Promise<void>, stop: () => void): Promise<void> {
  one.catch(stop);
  other.catch(stop);
  const results = await Promise.allSettled([one, other]);
  const refused = results.find((result) => result.status === 'rejected');
  if (refused) throw refused.reason;
}

/** Tells the display what the progress does not say: the layers, and the place in the queue for as long as there is one. */
async function readDetails(api: ApiClient, path: string, signal: AbortSignal, display: Display): Promise<void> {
  while (!signal.aborted) {
    try {
      const { snapshot, queue, status } = await api.json<SessionDetail>({ method: 'GET', path }, signal);
      const waits = status.session.status === 'pending' ? status.session.message : undefined;
      display.update({ layers: snapshot.layers, queuePlace: queue?.place ?? null, waits });
      if (queue === null) return;
    } catch (error) {
      // The streams say what is wrong with the API, and throw what is refused.
      if (!(error instanceof CliFailure)) throw error;
    }
    await pause(QUEUE_PERIOD, undefined, { signal }).catch(() => undefined);
  }
}

/** Says once that the API is away and once that it is back, whichever of the streams notices. */
function connectionNotes(display: Display): { onLost: (failure: CliFailure) => void; onBack: () => void } {
  let away = 0;
  return {
    onLost: (failure) => {
      away += 1;
      if (away === 1) display.note(`${failure.message}; the session goes on, trying again`);
    },
    onBack: () => {
      away -= 1;
      if (away === 0) display.note('the API answers again');
    },
  };
}
