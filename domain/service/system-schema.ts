/** Whether Muster itself is well, in full. */
import { z } from 'zod';
import { PartSchema, StatusSchema } from './status-schema.ts';

const ProcessSchema = z
  .strictObject({
    kind: z.string().describe('`api`, `worker`, or `operator NAME`.'),
    version: z.string().nullable().describe('Null where the process does not say.'),
    host: z.string().describe('Its machine, or how it calls itself.'),
    since: z.string().nullable().describe('When it began; null where that is not known.'),
    seen_at: z.string().describe('Its last sign of life.'),
  })
  .meta({ id: 'SystemProcess' });
export type SystemProcess = z.infer<typeof ProcessSchema>;

const QueueSchema = z
  .strictObject({
    name: z.string(),
    depth: z.int().min(0).describe('What waits.'),
    oldest_seconds: z.number().min(0).describe('How long the first of it waits.'),
    pollers: z.int().nullable().describe('Processes that take work from it; null where none is known.'),
  })
  .meta({ id: 'SystemQueue' });
export type SystemQueue = z.infer<typeof QueueSchema>;

const DiskSchema = z
  .strictObject({
    path: z.string(),
    free: z.number().describe('Bytes.'),
    size: z.number().describe('Bytes.'),
    low: z.boolean().describe('Whether less than a twentieth, and less than 10 GiB, is free.'),
  })
  .meta({ id: 'SystemDisk' });
export type SystemDisk = z.infer<typeof DiskSchema>;

const DatabaseSchema = PartSchema.extend({
  size: z.number().nullable().describe('Bytes.'),
  connections: z.int().nullable().describe('Connections to this database, of all processes.'),
  max_connections: z.int().nullable(),
  schema: z.string().nullable().describe('The newest migration that it has.'),
});

const CheckSchema = z
  .strictObject({
    name: z.string(),
    ok: z.boolean(),
    detail: z.string(),
    fix: z.string().nullable().describe('What mends it; null where nothing is to be mended.'),
  })
  .meta({ id: 'SystemCheck' });
export type SystemCheck = z.infer<typeof CheckSchema>;

/** Answer of GET /api/v1/system. */
export const SystemSchema = StatusSchema.extend({
  database: DatabaseSchema.describe('Members but `ok` and `reason` are null while it does not answer.'),
  processes: z
    .array(ProcessSchema)
    .describe('Processes that are known of: this one, workers that ask for work, operators.'),
  queues: z.array(QueueSchema).describe('What waits, and for how long.'),
  gauges: z
    .record(z.string(), z.number().nullable())
    .nullable()
    .describe('Numbers by the names of their metrics without `muster_`; null while the database does not answer.'),
  disk: DiskSchema.nullable().describe('Where the data of this process is; null when that cannot be read.'),
  checks: z.array(CheckSchema).describe('What was looked at, in the order in which one part needs the next.'),
}).meta({ id: 'System' });
export type System = z.infer<typeof SystemSchema>;
