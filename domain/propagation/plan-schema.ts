/** Shapes of a plan: which actions run, in which order, and how each of them stands. */
import { z } from 'zod';
import { CONDITIONS, EVENT_TYPES, OutcomeSchema, PropagationEventSchema } from './event-schema.ts';

export const NODE_STATUSES = [
  'pending',
  'in_progress',
  'error_retry',
  'success',
  'error',
  'noop',
  'skipped',
  'blocked',
] as const;
export const NodeStatusSchema = z.enum(NODE_STATUSES);
export type NodeStatus = z.infer<typeof NodeStatusSchema>;

/** Why a node was passed over: no event fired, or an operator marked it as done. */
export const NOOP_REASONS = ['not-triggered', 'operator'] as const;
export type NoopReason = (typeof NOOP_REASONS)[number];

/** `staged`: a change of a user; `reaction`: an event; `repeat`: the second pass of a loop; `control`: a gate of an explicit plan. */
export const ORIGINS = ['staged', 'reaction', 'repeat', 'control'] as const;
export type Origin = (typeof ORIGINS)[number];

export const EDGE_TYPES = [...EVENT_TYPES, 'sequence'] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

export const PLAN_RESULTS = ['succeeded', 'failed', 'stopped'] as const;
export type PlanResult = (typeof PLAN_RESULTS)[number];

export const PlanNodeSchema = z.strictObject({
  id: z.string().describe('`resource.action`; `resource.action#0` and `#1` where the action is repeated'),
  base: z.string(),
  occurrence: z.union([z.literal(0), z.literal(1)]),
  origin: z.enum(ORIGINS),
  weight: z.number().describe('how much waits for the node; the heaviest node that may start starts first'),
  target: z.string().nullable().describe('where the action runs; one action at a time on each target'),
});
export type PlanNode = z.infer<typeof PlanNodeSchema>;

export const PlanEdgeSchema = z.strictObject({
  from: z.string(),
  to: z.string(),
  type: z.enum(EDGE_TYPES),
  on: z.enum(CONDITIONS).nullable().describe('null for the edge between two occurrences of one action'),
});
export type PlanEdge = z.infer<typeof PlanEdgeSchema>;

export const PlanCycleSchema = z.strictObject({
  members: z.array(z.string()),
  head: z.string().describe('the action that goes first'),
  repeated: z.array(z.string()).describe('actions that run a second time'),
  closed_by: z.array(z.tuple([z.string(), z.string()])).describe('pairs of actions that closed the loop'),
});
export type PlanCycle = z.infer<typeof PlanCycleSchema>;

/**
 * `child-removed`: the subscriber's resource is removed in the same plan; `self-dependency`: an action that waits for itself;
 * `remove-cycle`: the event would have repeated a removal.
 */
export const SUPPRESSED_REASONS = ['child-removed', 'self-dependency', 'remove-cycle'] as const;
export const SuppressedEventSchema = PropagationEventSchema.extend({ reason: z.enum(SUPPRESSED_REASONS) });
export type SuppressedEvent = z.infer<typeof SuppressedEventSchema>;

/** How a node stands, as far as decisions read it. */
export const NodeStateSchema = z.strictObject({
  status: NodeStatusSchema,
  outcome: OutcomeSchema.optional(),
  reason: z.enum(NOOP_REASONS).optional(),
});
export type GivenState = z.infer<typeof NodeStateSchema>;

const TriggerSchema = z.strictObject({ node: z.string(), outcome: OutcomeSchema });

/** Why a node stands in a plan, and what became of it. */
export const ExplanationSchema = z.strictObject({
  node: z.string(),
  origin: z.enum(ORIGINS),
  chain: z
    .array(z.strictObject({ from: z.string(), event: z.string(), to: z.string() }))
    .nullable()
    .describe('shortest way of events from a staged action; null where the walk was too long'),
  incoming: z.array(
    z.strictObject({
      from: z.array(z.string()),
      type: z.enum(EDGE_TYPES),
      on: z.enum(CONDITIONS).nullable(),
      aggregate: z.string().nullable().describe('what the emitter ended with; null while it is open'),
      verdict: z.enum(['fire', 'quiet', 'block']).nullable(),
    }),
  ),
  decision: z.strictObject({
    status: NodeStatusSchema,
    reason: z.enum(NOOP_REASONS).optional(),
    triggered_by: z.array(TriggerSchema),
    blocked_by: z.array(z.string()),
  }),
});
export type Explanation = z.infer<typeof ExplanationSchema>;
