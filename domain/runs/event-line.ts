import { type EventLine, EventLineSchema } from './schema.ts';
import { storableJson } from './storable-text.ts';

/** The event in a line of `events.jsonl`. One that is none (a full disk may have torn it) becomes a warning, so that line numbers stay true. */
export function eventOfLine(line: string, now: Date): EventLine {
  try {
    return storableJson(EventLineSchema.parse(JSON.parse(line)));
  } catch {
    return { time: now.toISOString(), type: 'warning', message: 'an event could not be read and was left out' };
  }
}
