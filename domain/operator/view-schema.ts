/** Shapes of the routes of operators: what operators, watches, resources and reconciles are on the wire. Times are ISO with ms and Z. */
import { z } from 'zod';
import { CAUSE_TYPES } from './cause.ts';
import { PHASES, RECONCILE_OUTCOMES, WATCH_STATES } from './resource-words.ts';

const Gvk = {
  group: z.string().describe('Empty for the core group'),
  version: z.string(),
  kind: z.string(),
};
const Cause = {
  type: z.enum(CAUSE_TYPES),
  object: z.string().optional().describe('The dependent that changed'),
  manager: z.string().optional().describe('Who has changed it, as its managed fields say'),
  by: z.string().optional(),
  attempt: z.int().optional(),
};
const PartSchema = z.strictObject({ ok: z.boolean(), reason: z.string().nullable() });

export const OperatorSchema = z
  .strictObject({
    name: z.string(),
    version: z.string().describe('Of Muster'),
    home: z.string(),
    watcher: z.string().nullable().describe('Host of the process that watches; null where none does'),
    hosts: z.array(
      z.strictObject({
        host: z.string(),
        version: z.string(),
        slots: z.int().describe('Runs of its process at once'),
        seen_at: z.string(),
        live: z.boolean().describe('Whether it gave a sign within the last 45 s; only such a host gets runs'),
        database: PartSchema,
        engine: PartSchema.describe('Whether Temporal answered it'),
      }),
    ),
  })
  .meta({ id: 'Operator' });
export type OperatorView = z.infer<typeof OperatorSchema>;

export const OperatorWatchSchema = z
  .strictObject({
    operator: z.string(),
    ...Gvk,
    state: z.enum(WATCH_STATES),
    reason: z.string().nullable(),
    slots: z.int().describe('Reconciles of this kind at once, all processes together'),
    finalizer: z.string().nullable(),
    dependents: z.array(
      z.strictObject({ ...Gvk, mark: z.enum(['owner_reference', 'annotations']), reason: z.string().nullable() }),
    ),
  })
  .meta({ id: 'OperatorWatch' });
export type OperatorWatchView = z.infer<typeof OperatorWatchSchema>;

export const OperatorResourceSchema = z
  .strictObject({
    id: z.string(),
    operator: z.string(),
    ...Gvk,
    namespace: z.string().describe('Empty for a cluster-scoped resource'),
    name: z.string(),
    uid: z.string(),
    generation: z.int(),
    phase: z.enum(PHASES),
    reason: z.string().nullable(),
    next_attempt_at: z.string().nullable().describe('When it runs next; null: at its next change'),
    failures_in_a_row: z.int(),
    paused: z.boolean(),
    paused_until: z.string().nullable(),
    causes: z
      .array(z.strictObject({ ...Cause, at: z.string() }))
      .nullable()
      .describe('What has made it run: the newest 20, the newest first; null in lists'),
  })
  .meta({ id: 'OperatorResource' });
export type OperatorResourceView = z.infer<typeof OperatorResourceSchema>;

const Count = z.int();
const CountersSchema = z.strictObject({
  ok: Count,
  changed: Count,
  skipped: Count,
  failures: Count,
  unreachable: Count,
  rescued: Count,
  ignored: Count,
});

const WritesSchema = z.strictObject({
  total: z.int(),
  listed: z
    .array(
      z.strictObject({
        verb: z.string(),
        ...Gvk,
        namespace: z.string(),
        name: z.string(),
        subresource: z.string(),
      }),
    )
    .nullable()
    .describe('At most 1,000; null in lists'),
});

export const OperatorReconcileSchema = z
  .strictObject({
    id: z.string(),
    resource_id: z.string(),
    operator: z.string(),
    ...Gvk,
    namespace: z.string(),
    name: z.string(),
    uid: z.string(),
    generation: z.int().nullable().describe('That the run has read; null before it has'),
    entry_hash: z.string().nullable(),
    cause: z.strictObject(Cause),
    finalizer_run: z.boolean(),
    check: z.boolean(),
    host: z.string().describe('Empty where nothing ran'),
    started_at: z.string(),
    ended_at: z.string().nullable(),
    outcome: z.enum(RECONCILE_OUTCOMES).nullable(),
    counters: CountersSchema.nullable().describe('Over all hosts'),
    host_counters: z.record(z.string(), CountersSchema).nullable().describe('By host; null in lists'),
    messages: z.array(z.string()),
    requeue_after_seconds: z.number().nullable(),
    requeue_reason: z.string().nullable(),
    run_id: z.string().nullable(),
    writes: WritesSchema,
    cancelled_by: z.string().nullable(),
  })
  .meta({ id: 'OperatorReconcile' });
export type OperatorReconcileView = z.infer<typeof OperatorReconcileSchema>;

/** The last message of a reconcile's live stream. */
export type ReconcileStreamEnd = Pick<OperatorReconcileView, 'id' | 'outcome' | 'messages'> & { deleted: boolean };
