/** Shapes of a run's files, written by the launcher and the callback plugin, read by the worker. */
import { z } from 'zod';

/** What a column of the database holds. */
const count = z.int().min(0).max(2_147_483_647);

export const HostCountsSchema = z.object({
  ok: count,
  changed: count,
  failures: count,
  unreachable: count,
  skipped: count,
  rescued: count,
  ignored: count,
});

export const HOST_STATUSES = ['applied', 'failed', 'incomplete'] as const;
export type HostStatus = (typeof HOST_STATUSES)[number];

/** `results.json`: hosts with at least one counted task result. */
export const ResultsFileSchema = z.object({
  hosts: z.record(z.string(), HostCountsSchema.extend({ status: z.enum(HOST_STATUSES) })),
  broken_off: z.boolean(),
});
export type ResultsFile = z.infer<typeof ResultsFileSchema>;
export type HostResult = z.infer<typeof HostCountsSchema> & { host: string; status: HostStatus };

/** `exit.json`: written when the playbook's process has ended. */
export const ExitFileSchema = z.object({
  code: z.int().min(0).max(255),
  signal: z.string().nullable(),
  ended_at: z.string(),
});
export type ExitFile = z.infer<typeof ExitFileSchema>;

/** `claim`: who executes the run. `start_time` is field 22 of /proc/<pid>/stat, so a reused pid is told apart. */
export const ClaimFileSchema = z.object({ pid: z.int().min(1), start_time: z.string(), boot_id: z.string() });
export type ClaimFile = z.infer<typeof ClaimFileSchema>;

/** One line of `events.jsonl`. */
export const EventLineSchema = z.looseObject({ time: z.string(), type: z.string(), host: z.string().optional() });
export type EventLine = z.infer<typeof EventLineSchema>;
