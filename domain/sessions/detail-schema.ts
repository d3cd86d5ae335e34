/** Shapes of Muster's own session routes: what a session is besides its CFS record. Times are ISO with ms and Z. */
import { z } from 'zod';
import { RESULT_WORDS } from '../runs/event-summary.ts';
import { UNFINISHED_WORDS } from '../runs/host-progress.ts';
import { RUN_STATES } from '../runs/run-states.ts';
import { HOST_STATUSES, hostCounts } from '../runs/schema.ts';
import { RUNNER_PROFILES } from './cluster/cluster-job.ts';
import { IMAGE_STATES } from './images/image-progress.ts';
import { SESSION_STATUSES, SessionSchema, SnapshotSchema, SUCCEEDED } from './schema.ts';

const time = z.string();
const count = z.int();

const ResultCountsSchema = z.strictObject(
  Object.fromEntries(RESULT_WORDS.map((word) => [word, count])) as Record<(typeof RESULT_WORDS)[number], z.ZodInt>,
);

const ReasonSchema = z.strictObject({
  /** Code of the error catalogue or of an outcome. */
  code: z.string(),
  message: z.string(),
});

const NamedSessionSchema = z.strictObject({ id: z.string(), name: z.string() });

/** An entry of GET /api/v1/sessions. */
export const SessionItemSchema = SessionSchema.extend({
  id: z.string(),
  /** queued, clone, images, inventory, lease, layer, hold, teardown, done. */
  phase: z.string(),
  layer: z.int().nullable(),
  attempt: z.int(),
  reason: ReasonSchema.nullable(),
  created_at: time,
  updated_at: time,
  started_at: time.describe('When it was made, as `start_time` of its record.'),
  ended_at: time.nullable().describe('When it was complete; null before.'),
  hosts: z
    .object({ applied: count, failed: count, incomplete: count })
    .describe('Hosts with stored results, each by its worst layer.'),
}).meta({ id: 'SessionItem' });
export type SessionItem = z.infer<typeof SessionItemSchema>;

const AttemptSchema = z.strictObject({
  run_id: z.string(),
  layer: z.int(),
  attempt: z.int(),
  state: z.enum(RUN_STATES),
  exit_code: z.int().nullable(),
  /** Why Ansible ended it, in its own words with file and line; null where it did not say. */
  error: z.string().nullable(),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
});

/** One image of a session on images. */
const SessionImageSchema = z.strictObject({
  image_id: z.string(),
  /** Name of the image that is to come of it. */
  result_name: z.string(),
  state: z.enum(IMAGE_STATES),
  /** What it waits for, or why it failed; '' when there is nothing to say. */
  message: z.string(),
  /** Its job at the image service; null before there is one. */
  job: z.string().nullable(),
  /** The image that came of it. */
  result_id: z.string().nullable(),
  updated_at: time,
});

/** The Kubernetes Job of a session that runs on a cluster. */
const SessionJobSchema = z.strictObject({
  /** Of the Job, as in `status.session.job` unless somebody has written something else there. */
  name: z.string(),
  profile: z.enum(RUNNER_PROFILES),
  /** Exit status by container, null of one that has not ended; no member before the first is known. */
  exit_codes: z.record(z.string(), z.int().nullable()),
  /** Why it ended without success; null while it goes on and when it succeeded. */
  trouble: ReasonSchema.nullable(),
  /** Why nobody knows whether all of it has stopped; null when that was verified, and while it goes on. */
  unverified: z.string().nullable(),
  /** Since when its pod waits for what keeps it from running; null: it does not. */
  waiting_since: time.nullable(),
  created_at: time,
  ended_at: time.nullable(),
});
export type SessionJob = z.infer<typeof SessionJobSchema>;

/** GET /api/v1/sessions/{name}: everything about one session. */
export const SessionDetailSchema = SessionItemSchema.extend({
  admitted_at: time.nullable(),
  /** Place in the queue, 1 is next; null when it does not wait. */
  queue: z.strictObject({ place: z.int() }).nullable(),
  attempts: z.array(AttemptSchema),
  /** Null unless it runs as a Job of a cluster. */
  job: SessionJobSchema.nullable(),
  /** The images that it customises, in order; empty unless its target is images. */
  images: z.array(SessionImageSchema),
  snapshot: SnapshotSchema,
  /** Task results so far. */
  counts: ResultCountsSchema,
  /** Hosts of ended runs, each by its worst layer. */
  hosts: z.strictObject({ applied: count, failed: count, incomplete: count, not_reached: count }),
  /** The hosts that failed, grouped by what they say: at most 20 groups, the largest first, each with at most 10 names. */
  failures: z.array(z.strictObject({ message: z.string(), count, hosts: z.array(z.string()) })),
  /** Hosts of a limit that is a plain list which the inventory does not have; null for another limit, or not known yet. */
  absent_hosts: z.array(z.string()).nullable(),
  retry_of: NamedSessionSchema.nullable(),
  retried_by: z.array(NamedSessionSchema),
  cancel: z.strictObject({ requested_at: time, reason: z.string(), actor: z.string().nullable() }).nullable(),
  /** Who made it, and who changed it last; null where nobody is known. */
  actor: z.string().nullable(),
  updated_by: z.string().nullable(),
  links: z.strictObject({
    self: z.string(),
    logs: z.string(),
    events: z.string(),
    hosts: z.string(),
    progress: z.string(),
    temporal: z.string().nullable(),
  }),
}).meta({ id: 'SessionDetail' });
export type SessionDetail = z.infer<typeof SessionDetailSchema>;

/** GET .../progress. */
export const SessionProgressSchema = z
  .strictObject({
    name: z.string(),
    id: z.string(),
    status: z.enum(SESSION_STATUSES),
    succeeded: z.enum(SUCCEEDED),
    phase: z.string(),
    message: z.string(),
    reason: z.string().nullable(),
    /** Index of the layer in the configuration; null before the first. */
    layer: z.int().nullable(),
    layers_total: z.int(),
    attempt: z.int(),
    play: z.string().nullable(),
    task: z.string().nullable(),
    hosts: z.strictObject({
      /** With a result in the current layer. */
      seen: count,
      /** Of these, those that answered the current task; all of them when the layer is done. */
      done: count,
      failed: count,
    }),
    counts: ResultCountsSchema,
    /** Seconds since creation, to the end if there is one. */
    elapsed: z.number(),
    /** Number of the last event that is counted. */
    seq: count,
  })
  .meta({ id: 'SessionProgress' });
export type SessionProgress = z.infer<typeof SessionProgressSchema>;

const HostLayerSchema = z.strictObject({
  layer: z.int(),
  attempt: z.int(),
  status: z.enum([...HOST_STATUSES, ...UNFINISHED_WORDS]),
  ...hostCounts(count),
  /** Of a check: how many of `changed` may come only of tasks that check mode skips. */
  uncertain: count,
  /** Whether a component of that id took the result. */
  recorded: z.boolean(),
  /** Why it failed: task, exit status and the last useful line of its output; null where no task of it failed. */
  message: z.string().nullable(),
});

/** One host of GET .../hosts. */
export const SessionHostSchema = z
  .strictObject({
    host: z.string(),
    result: z.enum([...HOST_STATUSES, ...UNFINISHED_WORDS]),
    layers: z.array(HostLayerSchema),
  })
  .meta({ id: 'SessionHost' });
export type SessionHost = z.infer<typeof SessionHostSchema>;

/** The last message of every live stream. */
const StreamEndSchema = z.strictObject({
  name: z.string(),
  id: z.string(),
  status: z.enum(SESSION_STATUSES),
  succeeded: z.enum(SUCCEEDED),
  message: z.string(),
  reason: z.string().nullable(),
  deleted: z.boolean(),
});
export type StreamEnd = z.infer<typeof StreamEndSchema>;
