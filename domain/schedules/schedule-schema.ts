/** Shapes of schedules on Muster's own routes. */

import { z } from 'zod';
import { ComponentFilterSchema } from '../components/schema.ts';
import { parseTagFilter } from '../components/tags.ts';
import { isMusterError } from '../errors.ts';
import { AFTER_ID_TEXT, LIMIT_TEXT, text } from '../schema.ts';
import { checkAnsibleLimit } from '../sessions/ansible-limit.ts';
import { parsePassthrough } from '../sessions/passthrough.ts';
import { SESSION_NAME, SessionCreateSchema } from '../sessions/schema.ts';
import { checkTarget } from '../sessions/target.ts';
import { parseCron } from './cron.ts';
import { SESSION_PREFIX_MAX } from './schedule-naming.ts';
import { timeZoneMistake } from './time-zone.ts';

/** What happens at a time at which the run before goes on: in Temporal's words. */
export const OVERLAP_POLICIES = ['skip', 'buffer_one', 'allow_all', 'cancel_other'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

const SCHEDULE_RUN_STATES = ['requested', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const;
export type ScheduleRunState = (typeof SCHEDULE_RUN_STATES)[number];

const SCHEDULE_NAME_MAX = 60;

export const ScheduleNameSchema = z
  .string()
  .min(1)
  .max(SCHEDULE_NAME_MAX, { abort: true })
  .regex(SESSION_NAME, 'must be a lower-case DNS name');

/** Says what a rule of another lane refuses at the place of its field. */
function refusedBy(context: z.core.$RefinementCtx, check: () => unknown, field = ''): void {
  try {
    check();
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const path = (error.field ?? field).split('.').filter((part) => part !== '');
    context.addIssue({ code: 'custom', path, message: error.detail });
  }
}

/** Which components are meant: the words of a PATCH by filter (cfs-api 6.4); `{}` is all of them. */
const ScheduleFilterSchema = ComponentFilterSchema.strict().superRefine(({ tags }, context) =>
  refusedBy(context, () => parseTagFilter(tags ?? ''), 'tags'),
);

const ReconfigureSchema = z
  .strictObject({ filter: ScheduleFilterSchema, desired_config: text(1, 60).optional() })
  .describe('clears the state of the components that match, so that they are configured again');

const RefreshSchema = z
  .strictObject({ configurations: z.array(text(1, 60)).min(1).max(1000).optional() })
  .describe('resolves the branches of these configurations anew, by default of all that have any');

const ScheduledSessionSchema = SessionCreateSchema.omit({ name: true })
  .extend({
    name_prefix: z
      .string()
      .min(1)
      .max(SESSION_PREFIX_MAX, { abort: true })
      .regex(SESSION_NAME, 'must be a lower-case DNS name')
      .optional(),
  })
  .superRefine(({ ansible_limit, ansible_passthrough, target }, context) => {
    refusedBy(context, () => checkAnsibleLimit(ansible_limit ?? ''));
    refusedBy(context, () => checkTarget(target));
    refusedBy(context, () => parsePassthrough(ansible_passthrough ?? ''), 'ansible_passthrough');
  })
  .describe('runs a session; the run lasts until it is complete and succeeds when it does');

const CheckSchema = z
  .strictObject({
    filter: ScheduleFilterSchema,
    reconfigure: z.boolean().optional().describe('what drifted is configured again'),
  })
  .describe(
    'runs the playbooks of the components that match in check mode; the run lasts until these sessions are complete',
  );

const ACTIONS = {
  reconfigure: ReconfigureSchema,
  refresh: RefreshSchema,
  session: ScheduledSessionSchema,
  check: CheckSchema,
};
export type ScheduleActionKind = keyof typeof ACTIONS;
const KINDS = Object.keys(ACTIONS) as ScheduleActionKind[];

/** What is done at each time: exactly one member. */
const ScheduleActionSchema = z
  .strictObject(ACTIONS)
  .partial()
  .superRefine((action, context) => {
    if (KINDS.filter((kind) => action[kind] !== undefined).length === 1) return;
    context.addIssue({ code: 'custom', message: `must have exactly one of ${KINDS.join(', ')}` });
  });
export type ScheduleAction = z.infer<typeof ScheduleActionSchema>;

const shape = {
  description: text(0, 500),
  cron: text(1, 300)
    .superRefine((value, context) => {
      const cron = parseCron(value);
      if ('mistake' in cron) context.addIssue({ code: 'custom', message: cron.mistake });
    })
    .describe('minute, hour, day of month, month, day of week'),
  time_zone: text(1, 100)
    .superRefine((value, context) => {
      const mistake = timeZoneMistake(value);
      if (mistake !== null) context.addIssue({ code: 'custom', message: mistake });
    })
    .describe('name of the IANA database'),
  jitter: z.int().min(0).max(86_400).describe('a run begins up to so many seconds later'),
  overlap: z.enum(OVERLAP_POLICIES).describe('what happens when the run before goes on'),
  catchup_window: z
    .int()
    .min(10)
    .max(31_536_000)
    .describe('a time that was missed because the engine was away is made up for within so many seconds'),
  action: ScheduleActionSchema,
};

/** What a user says of a schedule, with all defaults filled in. */
export const ScheduleBodySchema = z.strictObject({
  description: shape.description.default(''),
  cron: shape.cron,
  time_zone: shape.time_zone.default('UTC'),
  jitter: shape.jitter.default(0),
  overlap: shape.overlap.default('skip'),
  catchup_window: shape.catchup_window.default(600),
  action: shape.action,
});
export type ScheduleBody = z.infer<typeof ScheduleBodySchema>;

export const ScheduleCreateSchema = ScheduleBodySchema.extend({
  name: ScheduleNameSchema,
  paused: z.boolean().default(false).describe('nothing begins until it is resumed'),
});
export type ScheduleCreate = z.infer<typeof ScheduleCreateSchema>;

/** Members that are absent stay as they are. */
export const SchedulePatchSchema = z.strictObject(shape).partial();
export type SchedulePatch = z.infer<typeof SchedulePatchSchema>;

/** Body of pause and of resume. */
export const SchedulePauseSchema = z.strictObject({ note: text(0, 500).optional() });

/** What a run made: by its action, one of these members. */
const ScheduleRunResultSchema = z.strictObject({
  components: z.strictObject({ count: z.int(), ids: z.array(z.string()).describe('the first of them') }).optional(),
  configurations: z
    .strictObject({
      unchanged: z.int(),
      changed: z.array(z.string()),
      failed: z.array(z.strictObject({ name: z.string(), code: z.string(), detail: z.string() })),
    })
    .optional(),
  sessions: z.array(z.string()).optional().describe('sessions that the run made and waits for'),
});
export type ScheduleRunResult = z.infer<typeof ScheduleRunResultSchema>;

/** What is kept of it. */
export type KeptRunResult = ScheduleRunResult & {
  /**
   * Ids of `sessions`, in their order: a name may be deleted and taken by somebody else. Absent in runs of the release
   * before, which go by the names.
   */
  session_ids?: string[] | undefined;
};

export const ScheduleRunSchema = z.strictObject({
  id: z.string(),
  schedule: z.string(),
  scheduled_at: z.string(),
  state: z.enum(SCHEDULE_RUN_STATES),
  requested_by: z
    .string()
    .nullable()
    .describe('who asked for it; null for a run of the clock, or where nobody is known'),
  by_hand: z.boolean(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  result: ScheduleRunResultSchema.nullable(),
  error: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
});
export type ScheduleRunView = z.infer<typeof ScheduleRunSchema>;

export const ScheduleSchema = ScheduleBodySchema.extend({
  id: z.string(),
  name: z.string(),
  paused: z.boolean(),
  pause: z
    .strictObject({ note: z.string(), by: z.string().nullable(), at: z.string() })
    .nullable()
    .describe('who paused it, and why'),
  synced: z.boolean().describe('whether the engine has it as it stands here; else it gets it as soon as it can'),
  sync_error: z.string().nullable().describe('why not'),
  created_at: z.string(),
  updated_at: z.string(),
  updated_by: z.string().nullable(),
  last_run: ScheduleRunSchema.nullable(),
});
export type ScheduleView = z.infer<typeof ScheduleSchema>;

/** What the engine says of a schedule. */
export const ScheduleNextSchema = z.strictObject({
  name: z.string(),
  paused: z.boolean(),
  times: z.array(z.string()).describe('the next times, without jitter; a paused schedule lets them pass'),
  taken: z.int().describe('runs begun since the engine has the schedule'),
  skipped_overlap: z.int().describe('times that passed because a run was going on'),
  missed: z.int().describe('times that passed because the engine was away for longer than the catch-up window'),
});
export type ScheduleNext = z.infer<typeof ScheduleNextSchema>;

/** A run that was asked for; it is kept, also while the engine is away. */
export const ScheduleTriggeredSchema = ScheduleRunSchema.extend({
  synced: z.boolean(),
  sync_error: z.string().nullable(),
});
export type ScheduleTriggered = z.infer<typeof ScheduleTriggeredSchema>;

export const ScheduleListQuerySchema = z.object({
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
});

export const ScheduleRunListQuerySchema = z.object({
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z
    .union([z.literal(''), z.uuid()])
    .default('')
    .describe('id of the last run of the page before'),
});

export const ScheduleNextQuerySchema = z.object({
  count: z.int().min(1).max(10).default(10).describe('How many at most.'),
});
