import { storableText } from './storable-text.ts';

/** Returns a warning as an event of a stream: of no host, and of no line of a run. */
export function warningOf(text: string, time: Date) {
  return { time, type: 'warning', host: null, line: null, data: { message: storableText(text) } };
}
