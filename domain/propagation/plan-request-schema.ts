/** Queries, bodies and small answers of plans and attempts. */
import { z } from 'zod';
import { OutcomeSchema } from './event-schema.ts';
import {
  NODE_STATUSES,
  PlanCycleSchema,
  PlanEdgeSchema,
  PlanNodeSchema,
  SuppressedEventSchema,
} from './plan-schema.ts';
import { PLAN_STATES } from './plan-states.ts';
import { PageQuerySchema } from './request-schema.ts';

const name = z.string().max(400);
const Time = z.iso.datetime();

const TagsSchema = z
  .union([z.string().max(10_000), z.array(z.string().max(10_000)).max(100)])
  .optional()
  .describe('tag expression, or several of which one matches; default: all staged changes');
const ForceSchema = z.boolean().optional().describe('also where values of inputs do not fit');
const OutcomesSchema = z
  .record(name, z.union([OutcomeSchema, z.array(OutcomeSchema).min(1).max(1_000)]))
  .optional()
  .describe('how actions end: a word for every attempt, or one word for each; default: `changed`');

/** Members of the bodies of process and run that a later release will take. */
const LATER = {
  pause_before: z.unknown().optional().describe('not supported yet'),
  tag_limits: z.unknown().optional().describe('not supported yet'),
};

export const ProcessSchema = z
  .strictObject({
    tags: TagsSchema,
    name: z.string().min(1).max(200).optional().describe('default: `system_log`'),
    force: ForceSchema,
    ...LATER,
  })
  .meta({ id: 'PropagationProcess' });

export const RunSchema = z.strictObject(LATER).meta({ id: 'PropagationRun' });

export const ProcessQuerySchema = z.object({
  preview: z.boolean().default(false).describe('the plan is shown and not stored, nor is what is staged for it'),
});

export const PlanPreviewSchema = z
  .strictObject({
    nodes: z.array(PlanNodeSchema),
    edges: z.array(PlanEdgeSchema),
    cycles: z.array(PlanCycleSchema),
    suppressed: z.array(SuppressedEventSchema),
    order: z.array(z.string()).describe('all nodes in canonical order'),
  })
  .meta({ id: 'PropagationPlanPreview' });
export type PlanPreviewView = z.infer<typeof PlanPreviewSchema>;

export const SimulateChangesSchema = z
  .strictObject({ tags: TagsSchema, force: ForceSchema, outcomes: OutcomesSchema })
  .meta({ id: 'PropagationSimulateChanges' });

export const SimulatePlanSchema = z.strictObject({ outcomes: OutcomesSchema }).meta({ id: 'PropagationSimulatePlan' });

export const RetrySchema = z
  .strictObject({
    nodes: z
      .array(name)
      .min(1)
      .max(10_000)
      .optional()
      .describe('failed nodes, by id or by action; default: all of them'),
  })
  .meta({ id: 'PropagationRetry' });

export const PlanListQuerySchema = PageQuerySchema.extend({
  state: z
    .enum([...PLAN_STATES, ''])
    .optional()
    .describe('only plans in this state'),
  prefix: z
    .string()
    .regex(/^[0-9a-fA-F-]{0,36}$/)
    .optional()
    .describe('only plans whose id begins so'),
});

export const GraphQuerySchema = z.object({
  around: name.optional().describe('only what is near this node; without it a plan of more than 500 nodes is refused'),
  depth: z.int().min(0).max(1_000).default(1).describe('with `around`: steps along edges, in either direction'),
});

export const AttemptSchema = z
  .strictObject({
    id: z.uuid(),
    plan: z.uuid(),
    node: z.string(),
    number: z.int().describe('of the node, from 1; never used again'),
    state: z.enum(['open', 'ended']),
    outcome: OutcomeSchema.nullable(),
    code: z.string().nullable(),
    message: z.string().nullable(),
    machine: z.string().nullable().describe('id of the data directory with its files'),
    run: z.string().nullable().describe('id of its run; null where nothing was started'),
    leases: z
      .enum(['held', 'held, not verified'])
      .nullable()
      .describe('whether its target and resource are kept from other actions'),
    created_at: Time,
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
  })
  .meta({ id: 'PropagationAttempt' });
export type AttemptView = z.infer<typeof AttemptSchema>;

/** One step of a node, in the stream of its plan. */
export const NodeEventSchema = z
  .looseObject({
    seq: z.int(),
    time: z.string(),
    type: z.literal('node'),
    node: z.string(),
    from: z.enum(NODE_STATUSES),
    status: z.enum(NODE_STATUSES),
    outcome: OutcomeSchema.nullable(),
    reason: z.string().nullable(),
    message: z.string().nullable(),
    code: z.string().nullable(),
    attempts: z.int(),
  })
  .meta({ id: 'PropagationNodeEvent' });
export type NodeEvent = z.infer<typeof NodeEventSchema>;

/** The last message of the live stream of a plan, and of an attempt. */
export interface PlanStreamEnd {
  id: string;
  state: (typeof PLAN_STATES)[number] | null;
  deleted: boolean;
}
export interface AttemptStreamEnd extends Pick<AttemptView, 'id' | 'outcome' | 'code' | 'message'> {
  deleted: boolean;
}
