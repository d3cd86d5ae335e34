/** Words and shape of events: what the end of one action means for another action. */
import { z } from 'zod';

/** How an executed action ended: the first three are successes, the other two are failures. */
export const OUTCOMES = ['created', 'changed', 'ok', 'failed', 'error'] as const;
export const OutcomeSchema = z.enum(OUTCOMES);
export type Outcome = z.infer<typeof OutcomeSchema>;

/** What an event asks of the outcome of its emitter, in plain order. */
export const CONDITIONS = ['any', 'changed', 'created', 'error', 'failed', 'failure', 'ok', 'success'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** A dependency orders two actions, a reaction also brings its subscriber into the plan. */
export const EVENT_TYPES = ['depends_on', 'react_on'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const PropagationEventSchema = z.strictObject({
  type: z.enum(EVENT_TYPES).describe('`depends_on` only orders, `react_on` also brings the subscriber into the plan'),
  parent: z.string().describe('the emitter: `resource.action`, or `resource.*` for every action but `remove`'),
  on: z.enum(CONDITIONS).describe('condition on the outcome of the emitter'),
  child: z.string().describe('the subscriber: `resource.action`'),
});
export type PropagationEvent = z.infer<typeof PropagationEventSchema>;

/** An event as answers show it: with its line of text. */
export const ShownEventSchema = PropagationEventSchema.extend({ text: z.string() });
export type ShownEvent = z.infer<typeof ShownEventSchema>;

/** An event that a caller hands in: its words are checked one by one, so that each mistake gets its code and its place. */
export const GivenEventSchema = z.union([
  z.string(),
  z.strictObject({ type: z.string(), parent: z.string(), on: z.string(), child: z.string() }),
]);
export type GivenEvent = z.infer<typeof GivenEventSchema>;
