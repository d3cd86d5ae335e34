/** The output of one layer's run in a session as numbered lines. */
import { z } from 'zod';

const number = z.int().min(0);

export const LogLineSchema = z
  .strictObject({
    number: number.describe('From 1. A line keeps it, also where lines before it were not kept.'),
    text: z
      .string()
      .describe('As the playbook wrote it, colours included; the first 4,000 characters where it is longer.'),
    at: z
      .string()
      .nullable()
      .describe('When the piece of output arrived that the line ends in; null of output of an older release.'),
    length: number.optional().describe('Characters of the whole line, where `text` has not all of them.'),
  })
  .meta({ id: 'LogLine' });
export type LogLine = z.infer<typeof LogLineSchema>;

export const LogGapSchema = z
  .strictObject({
    after: number.describe('Number of the last line before it.'),
    lines: number.nullable().describe('Lines that were not kept; null where an older release did not count them.'),
    bytes: number.describe('Bytes that were not kept (`MUSTER_LOG_MAX`).'),
  })
  .meta({ id: 'LogGap' });

/** Of which run a log is. */
const place = {
  layer: number.describe('Index of the layer, from 0.'),
  attempt: number.describe('From 1.'),
};

/** Answer of GET /api/v1/sessions/{name}/log-lines. */
export const LogLinesSchema = z
  .strictObject({
    ...place,
    lines: z.array(LogLineSchema),
    total: number.describe('Number of the last line that there is now; it may not have ended yet.'),
    gaps: z.array(LogGapSchema).describe('Where output was not kept.'),
    complete: z.boolean().describe('Whether nothing more comes.'),
    next: z.strictObject({ layer: number, attempt: number, from: number, limit: number }).nullable(),
  })
  .meta({ id: 'LogLines' });
export type LogLines = z.infer<typeof LogLinesSchema>;

/** Answer of GET /api/v1/sessions/{name}/log-search. */
export const LogSearchSchema = z
  .strictObject({
    ...place,
    lines: z.array(LogLineSchema).describe('Lines that match, ascending.'),
    total: number.describe('Number of the last line that there is now.'),
    next: z
      .strictObject({
        ...place,
        q: z.string().optional(),
        case: z.boolean().optional(),
        failures: z.boolean().optional(),
        after: number,
        limit: number,
      })
      .nullable()
      .describe('Parameters of the next page; null: nothing more matches now.'),
  })
  .meta({ id: 'LogSearch' });
export type LogSearch = z.infer<typeof LogSearchSchema>;

const marks = (what: string) => z.array(number).describe(`Numbers of lines ${what}.`);

/** Answer of GET /api/v1/sessions/{name}/log-marks. */
export const LogMarksSchema = z
  .strictObject({
    ...place,
    failed: marks('that say that a task failed on a host'),
    unreachable: marks('that say that a host was not reached'),
    task: marks('that begin a task'),
    play: marks('that begin a play'),
    more: z.boolean().describe('Whether there are more than these: the first 10,000 of each kind are answered.'),
    total: number.describe('Number of the last line that there is now.'),
  })
  .meta({ id: 'LogMarks' });
export type LogMarks = z.infer<typeof LogMarksSchema>;
