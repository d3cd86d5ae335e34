/** Events as ansible-runner writes them to `job_events`. Everything in them is what a playbook made, so every form is checked. */
import { isJsonMap } from './custom-resource.ts';

type Json = Readonly<Record<string, unknown>>;

export interface RunnerEvent {
  event: string;
  created?: unknown;
  event_data?: unknown;
}

/** The data of an event; empty where there is none. */
export const dataOf = ({ event_data: data }: RunnerEvent): Json => (isJsonMap(data) ? data : {});

/** Returns the host of an event, or an empty text. */
export function hostOf(event: RunnerEvent): string {
  const { host } = dataOf(event);
  return typeof host === 'string' ? host : '';
}

/** Returns `res.msg` of an event that tells a failure; null where it is no text. */
export function messageIn(event: RunnerEvent): string | null {
  const { res } = dataOf(event);
  return isJsonMap(res) && typeof res.msg === 'string' ? res.msg : null;
}

/** Whether the playbook goes on after this failure because it ignores errors. */
export const isIgnored = (event: RunnerEvent): boolean => dataOf(event).ignore_errors === true;

const REQUEUE = 'operator_sdk.util.requeue_after';
const REQUEUE_NAMES: readonly unknown[] = [REQUEUE, 'requeue_after'];

/** Returns the duration that the requeue module was given, where an event says that it ran; null for any other event. */
export function requeueIn(event: RunnerEvent): string | null {
  const { task_action: action, resolved_action: resolved, res } = dataOf(event);
  const isRequeue = REQUEUE_NAMES.includes(action) || resolved === REQUEUE;
  if (event.event !== 'runner_on_ok' || !isRequeue || !isJsonMap(res)) return null;
  return typeof res.period === 'string' ? res.period : '';
}

/** Counts of a stats event, by host. */
export type HostCounts = ReadonlyMap<string, number>;

/** Returns a map of counts of a stats event; what is no count is left out. */
export function countsOf(stats: RunnerEvent, name: string): HostCounts {
  const counts = dataOf(stats)[name];
  if (!isJsonMap(counts)) return new Map();
  return new Map(
    Object.entries(counts).filter(
      (pair): pair is [string, number] => Number.isSafeInteger(pair[1]) && Number(pair[1]) > 0,
    ),
  );
}
