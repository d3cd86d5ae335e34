/** Plans, their nodes and attempts as they are shown. */
import { z } from 'zod';
import { OutcomeSchema } from './event-schema.ts';
import { NODE_STATUSES, NodeStatusSchema, ORIGINS, PlanCycleSchema, SuppressedEventSchema } from './plan-schema.ts';
import { PLAN_STATES } from './plan-states.ts';

const Time = z.iso.datetime();
const Counts = z.strictObject(
  Object.fromEntries(NODE_STATUSES.map((status) => [status, z.int()])) as Record<
    (typeof NODE_STATUSES)[number],
    z.ZodInt
  >,
);

export const PlanViewSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    state: z.enum(PLAN_STATES),
    wish: z.enum(['stop', 'abort']).nullable().describe('what the plan obeys until it ends'),
    run_number: z.int().describe('how often it was started'),
    summary: Counts.describe('number of nodes by status'),
    percent: z.int().describe('of the nodes, how many have ended'),
    cycles: z.array(PlanCycleSchema),
    suppressed: z.array(SuppressedEventSchema),
    recovered: z.array(z.string()).describe('actions whose second run mended the first'),
    unsettled: z.array(z.string()).describe('second runs that still changed something'),
    follow_up: z.array(z.string()).describe('resources that a committed removal has staged'),
    created_at: Time,
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
  })
  .meta({ id: 'PropagationPlan' });
export type PlanView = z.infer<typeof PlanViewSchema>;

export const PlanNodeViewSchema = z
  .strictObject({
    id: z.string().describe('`resource.action`; `resource.action#0` and `#1` where the action is repeated'),
    base: z.string(),
    occurrence: z.union([z.literal(0), z.literal(1)]),
    origin: z.enum(ORIGINS),
    handler: z.string(),
    target: z.string().nullable(),
    weight: z.number(),
    status: NodeStatusSchema,
    outcome: OutcomeSchema.nullable(),
    reason: z.string().nullable().describe('why it was passed over, or what it waits for'),
    message: z.string().nullable(),
    code: z.string().nullable(),
    attempts: z.int(),
    blocked_by: z.array(z.string()),
    triggered_by: z.array(z.strictObject({ node: z.string(), outcome: OutcomeSchema })),
    start_time: Time.nullable(),
    end_time: Time.nullable(),
  })
  .meta({ id: 'PropagationPlanNode' });
export type PlanNodeView = z.infer<typeof PlanNodeViewSchema>;

const ReportNodeSchema = PlanNodeViewSchema.pick({
  ...({ status: true, outcome: true, reason: true, message: true, code: true, attempts: true } as const),
  ...({ blocked_by: true, triggered_by: true, start_time: true, end_time: true } as const),
}).extend({ node: z.string() });

export const PlanReportSchema = z
  .strictObject({
    nodes: z.array(ReportNodeSchema).describe('in canonical order'),
    is_cut: z.boolean().describe('only nodes that did not end well are listed, or not all of them'),
    total_time: z.number().describe('from the first start to the last end, s'),
    total_delta: z.number().describe('sum of what each node took, s'),
    summary: Counts,
    percent: z.int(),
    cycles: z.array(PlanCycleSchema),
    recovered: z.array(z.string()),
    unsettled: z.array(z.string()),
    follow_up: z.array(z.string()),
  })
  .meta({ id: 'PropagationPlanReport' });
export type PlanReport = z.infer<typeof PlanReportSchema>;
