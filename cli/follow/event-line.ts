import { oneLine } from '../terminal/neutralise.ts';

/** An event as the API answers it: a few members that are always there, and what the run reported. */
export interface EventAnswer {
  seq: number;
  time: string;
  type: string;
  layer: number | null;
  attempt: number | null;
  host: string | null;
  [member: string]: unknown;
}

/** Longest part of a host's message that is shown in its line; the whole is in the events. */
const MESSAGE_MAX = 300;

/** A member of an event as text; nothing when it is none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The line for an event a person wants to see as it comes (a failure, a warning); undefined for all others. */
export function eventLine(event: EventAnswer): string | undefined {
  if (event.type === 'warning') return `warning: ${shortened(textOf(event.message))}`;
  if (event.type === 'cold_start') return shortened(textOf(event.message));
  if (event.type === 'error') return `error: ${shortened(textOf(event.message))}`;
  if (event.type !== 'host_result') return undefined;
  const result = textOf(event.result);
  if (result !== 'failed' && result !== 'unreachable') return undefined;
  const item = textOf(event.item) === '' ? '' : ` (item ${shortened(textOf(event.item))})`;
  const message = textOf(event.reason) || textOf(event.message) || textOf(event.stderr) || textOf(event.stdout);
  const reason = event.censored === true ? 'hidden by no_log' : message;
  return `${result}: ${shortened(event.host ?? '')}: ${shortened(textOf(event.task))}${item}: ${shortened(reason)}`;
}

function shortened(value: string): string {
  const line = oneLine(value.trim());
  return line.length > MESSAGE_MAX ? `${line.slice(0, MESSAGE_MAX)}…` : line;
}
