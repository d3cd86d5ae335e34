/** Shapes of what a stream holds: events and pieces of output. */
import { z } from 'zod';

/** One task event; further members as the playbook's run reported them (task, result, message, stdout ...). */
export const SessionEventSchema = z
  .looseObject({
    seq: z.int(),
    time: z.string(),
    type: z.string(),
    layer: z.int().nullable(),
    attempt: z.int().nullable(),
    host: z.string().nullable(),
  })
  .meta({ id: 'SessionEvent' });

export type SessionEvent = z.infer<typeof SessionEventSchema>;

/** One piece of output; with `host` the text of one task result instead. */
export const LogEntrySchema = z
  .strictObject({
    seq: z.int(),
    layer: z.int().nullable(),
    attempt: z.int().nullable(),
    text: z.string(),
  })
  .meta({ id: 'LogEntry' });

export type LogEntry = z.infer<typeof LogEntrySchema>;

/** How far a stream can be read, and whether more will come. `End`: what its last message says. */
export interface StreamState<End = unknown> {
  lastEvent: number;
  lastChunk: number;
  /** Nothing more will come. */
  over: boolean;
  /** What it belongs to was deleted. */
  deleted: boolean;
  end: End;
}
