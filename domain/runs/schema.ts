/** Shapes of a run's files, written by the launcher and the callback plugin, read by the worker. */
import { z } from 'zod';

/** What a column of the database holds. */
const count = z.int().min(0).max(2_147_483_647);

/** Returns the members for what Ansible counts of a host in one run: its tasks, by how they ended. */
export function hostCounts<Count extends z.ZodType>(count: Count) {
  return {
    ok: count,
    changed: count,
    failures: count,
    unreachable: count,
    skipped: count,
    rescued: count,
    ignored: count,
  };
}

export type HostCounts = Record<keyof ReturnType<typeof hostCounts>, number>;

const HostCountsSchema = z.object(hostCounts(count));

export const HOST_STATUSES = ['applied', 'failed', 'incomplete'] as const;
export type HostStatus = (typeof HOST_STATUSES)[number];

/** Most tasks that are kept of one host, and characters of each text of them; what writes the file keeps to less. */
const CHANGES_MAX = 50;
const CHANGE_TEXT_MAX = 8 * 1024;
const changeText = z.string().max(CHANGE_TEXT_MAX);

/** In check mode: a task that would change a host. */
export const TaskChangeSchema = z.object({
  task: changeText,
  /** Name of the module or action. */
  action: changeText,
  play: changeText,
  role: changeText.optional(),
  /** Path in the repository and line, `roles/web/tasks/main.yml:12`. */
  file: changeText.optional(),
  /** What would change, as unified text, secrets masked; absent when nothing says it, or there is no room. */
  diff: changeText.optional(),
  /** The task has `no_log`: what it would change is not shown. */
  censored: z.boolean().optional(),
  /** Why it may change nothing outside of check mode: it depends on a task that check mode skips. Absent: it is certain. */
  uncertain: changeText.optional(),
});
export type TaskChange = z.infer<typeof TaskChangeSchema>;

const HostResultSchema = HostCountsSchema.extend({
  status: z.enum(HOST_STATUSES),
  changes: z.array(TaskChangeSchema).max(CHANGES_MAX).optional(),
  /** Tasks for which there was no room. */
  changes_left_out: count.optional(),
  /** How many of the changed tasks are uncertain. */
  uncertain: count.optional(),
});

/** `results.json`: hosts with at least one counted task result; in check mode all hosts of a play. */
export const ResultsFileSchema = z.object({
  hosts: z.record(z.string(), HostResultSchema),
  broken_off: z.boolean(),
});
export type ResultsFile = z.infer<typeof ResultsFileSchema>;
export type HostResult = z.infer<typeof HostResultSchema> & { host: string };

/** `exit.json`: written when the playbook's process has ended. */
export const ExitFileSchema = z.object({
  code: z.int().min(0).max(255),
  signal: z.string().nullable(),
  ended_at: z.string(),
});
export type ExitFile = z.infer<typeof ExitFileSchema>;

/**
 * `journal`: Muster's callback writes the events of a run into its directory. `job_events`: ansible-runner writes them, below the folder
 * `runner` there, with the id of the run as the name of its artifacts. `none`: nobody does.
 */
export const RUN_TRACES = ['journal', 'job_events', 'none'] as const;
export type RunTrace = (typeof RUN_TRACES)[number];

/** Of `spec.json`: who writes the events. */
export const TraceSchema = z.object({ trace: z.enum(RUN_TRACES).default('journal') });

/** `mask.json`: secrets that may not show. */
export const MasksSchema = z.array(z.string());

/** `claim`: who executes the run. `start_time` is field 22 of /proc/<pid>/stat, so a reused pid is told apart. */
export const ClaimFileSchema = z.object({
  pid: z.int().min(1),
  start_time: z.string(),
  boot_id: z.string(),
  /** Its parent, which what a killed launcher leaves falls to; absent in claims of before there was one. */
  keeper: z.object({ pid: z.int().min(1), start_time: z.string() }).optional(),
});
export type ClaimFile = z.infer<typeof ClaimFileSchema>;

/** One line of `events.jsonl`. */
export const EventLineSchema = z.looseObject({ time: z.string(), type: z.string(), host: z.string().optional() });
export type EventLine = z.infer<typeof EventLineSchema>;
