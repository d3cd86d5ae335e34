/** How long the parts of a session took. Times are ms since 1970. */
import type { SessionEvent } from '../../../domain/runs/stream-schema.ts';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { textOf } from './event-text.ts';

/** A part of a session. */
export interface Span {
  /** Another one may have the same name. */
  key: string;
  name: string;
  from: number;
  until: number;
  /** Whether it goes on. */
  isOpen: boolean;
}

type Timed = Pick<SessionDetail, 'created_at' | 'admitted_at' | 'ended_at' | 'attempts'> & {
  snapshot: { layers: readonly { index: number; playbook: string }[] };
};
type Run = Pick<
  SessionDetail['attempts'][number],
  'layer' | 'attempt' | 'created_at' | 'started_at' | 'ended_at' | 'run_id'
>;

const timeOf = (at: string | null): number | null => (at === null ? null : Date.parse(at));
const beginOf = ({ created_at, started_at }: Run): number => Date.parse(started_at ?? created_at);

/** Returns the whole of a session as a span. */
export function wholeOf({ created_at, ended_at }: Pick<Timed, 'created_at' | 'ended_at'>, now: number): Span {
  const until = timeOf(ended_at);
  const from = Date.parse(created_at);
  return { key: 'whole', name: 'session', from, until: Math.max(until ?? now, from), isOpen: until === null };
}

/** Returns the steps of a session, in their order: waiting, what comes before the layers, each run of a layer, and what comes behind them. */
export function stepSpans(session: Timed, now: number): Span[] {
  const { attempts, snapshot } = session;
  const whole = wholeOf(session, now);
  const spanOf = (name: string, from: number, until: number | null): Span => ({
    ...{ key: name, name, from },
    until: Math.max(until ?? whole.until, from),
    isOpen: until === null && whole.isOpen,
  });
  const admitted = timeOf(session.admitted_at);
  const runs = attempts.toSorted((one, other) => beginOf(one) - beginOf(other));
  const [first] = runs;
  const nameOf = ({ layer, attempt }: Run): string => {
    const playbook = snapshot.layers.find(({ index }) => index === layer)?.playbook ?? '';
    const again = attempt === 1 ? '' : `, attempt ${attempt}`;
    return `layer ${layer + 1}/${snapshot.layers.length} ${playbook}${again}`;
  };
  const ends = runs.map(({ ended_at }) => timeOf(ended_at));
  const last = ends.some((end) => end === null) ? null : Math.max(...(ends as number[]));
  return [
    spanOf('waiting', whole.from, admitted),
    ...(admitted === null ? [] : [spanOf('preparation', admitted, first === undefined ? null : beginOf(first))]),
    ...runs.map((run, index) => ({ ...spanOf(nameOf(run), beginOf(run), ends[index] ?? null), key: run.run_id })),
    ...(first === undefined || last === null ? [] : [spanOf('end', last, whole.isOpen ? null : whole.until)]),
  ];
}

/** Returns the tasks that began, each until the next one of its run began, or until its run ended. */
export function taskSpans(starts: readonly SessionEvent[], attempts: readonly Run[], now: number): Span[] {
  return starts.map((event, index): Span => {
    const isOfRun = (one: { layer: number | null; attempt: number | null }) =>
      one.layer === event.layer && one.attempt === event.attempt;
    const next = starts.slice(index + 1).find(isOfRun);
    const run = attempts.find(isOfRun);
    const until = timeOf(next?.time ?? run?.ended_at ?? null);
    const from = Date.parse(event.time);
    return {
      key: String(event.seq),
      name: textOf(event.task) || 'a task without a name',
      from,
      until: Math.max(until ?? now, from),
      isOpen: until === null,
    };
  });
}

export interface HostTime {
  host: string;
  seconds: number;
  tasks: number;
}

/** Returns the hosts whose tasks took longest together, the slowest first. */
export function slowestHosts(results: readonly SessionEvent[], most: number): HostTime[] {
  const byHost = new Map<string, HostTime>();
  for (const { host, duration } of results) {
    if (host === null || typeof duration !== 'number') continue;
    const sum = byHost.get(host) ?? { host, seconds: 0, tasks: 0 };
    byHost.set(host, { host, seconds: sum.seconds + duration, tasks: sum.tasks + 1 });
  }
  return [...byHost.values()].toSorted((one, other) => other.seconds - one.seconds).slice(0, most);
}

/** Returns a span of time to a tenth of a second below a minute: many tasks take less than one. */
export function lastedText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
