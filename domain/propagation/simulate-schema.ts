/** What a simulation takes and answers. */
import { z } from 'zod';
import { GivenEventSchema, OutcomeSchema, ShownEventSchema } from './event-schema.ts';
import {
  NodeStateSchema,
  NodeStatusSchema,
  PLAN_RESULTS,
  PlanCycleSchema,
  PlanEdgeSchema,
  PlanNodeSchema,
  SuppressedEventSchema,
} from './plan-schema.ts';

const LONGEST_NAME = 400;
const name = z.string().max(LONGEST_NAME);
const byNode = <T extends z.ZodType>(value: T) => z.record(name, value);
const atLeastOne = z.int().min(1).max(1_000_000);

const AttributesSchema = z.strictObject({
  repeatable: z.boolean().optional().describe('whether a loop may run the action twice; default: true'),
  repeat_priority: z.int32().optional().describe('the highest of a loop goes first; default: 0'),
  retry: z.int().min(0).max(1_000).optional().describe('further attempts after a failure; default: 0'),
  target: z.string().max(LONGEST_NAME).nullable().optional().describe('where it runs: one action at a time on each'),
  type: z.string().max(LONGEST_NAME).nullable().optional().describe('the definition, for `type_limits`'),
  weight: z.number().min(0).optional().describe('instead of the weight that follows from the graph'),
});

export const SimulateInputSchema = z
  .strictObject({
    staged: z.array(name).describe('`resource.action` of what the user changed'),
    events: z.union([z.string(), z.array(GivenEventSchema)]).describe('lines of text, or a list of lines and objects'),
    resources: z.array(name).optional().describe('names of all resources; default: those of `staged` and `events`'),
    actions: byNode(AttributesSchema).optional().describe('attributes of actions, by `resource.action`'),
    type_limits: z.record(z.string().max(LONGEST_NAME), atLeastOne).optional(),
    items: atLeastOne.optional().describe('actions in progress at a time; default: 100'),
    outcomes: byNode(z.union([OutcomeSchema, z.array(OutcomeSchema).min(1)]))
      .optional()
      .describe('how actions end: a word for every attempt, or one word for each; default: `changed`'),
    initial: byNode(NodeStateSchema).optional().describe('how nodes stand before the run; default: `pending`'),
  })
  .meta({ id: 'PropagationSimulateInput' });
export type SimulateInput = z.input<typeof SimulateInputSchema>;

/** Members of a simulation that a later release will take. */
export const LATER_MEMBERS = ['tasks', 'filter'] as const;

export const SimulateRunSchema = z.strictObject({
  statuses: z.record(z.string(), NodeStatusSchema),
  outcomes: z.record(z.string(), OutcomeSchema).describe('of the nodes that have one'),
  attempts: z.record(z.string(), z.int()),
  result: z.enum(PLAN_RESULTS),
  recovered: z.array(z.string()).describe('actions whose second run mended the first'),
  unsettled: z.array(z.string()).describe('second runs that still changed something'),
});

export const SimulateAnswerSchema = z
  .strictObject({
    events: z.array(ShownEventSchema),
    nodes: z.array(PlanNodeSchema),
    edges: z.array(PlanEdgeSchema),
    cycles: z.array(PlanCycleSchema),
    suppressed: z.array(SuppressedEventSchema),
    order: z.array(z.string()).describe('all nodes in canonical order'),
    startable: z.array(z.string()).describe('nodes that may start at the beginning, before limits'),
    waves: z.array(z.array(z.string())).describe('what starts and ends together'),
    kept: z.array(z.string()).describe('nodes that a filter leaves'),
    run: SimulateRunSchema,
  })
  .meta({ id: 'PropagationSimulateAnswer' });
export type SimulateAnswer = z.infer<typeof SimulateAnswerSchema>;
