/** Why something stands as it does: one shape for records of all lanes. */
import { z } from 'zod';

const ConditionSchema = z
  .strictObject({
    text: z.string().describe('What must be so.'),
    holds: z.boolean().describe('Whether it is so now.'),
    becomes_true_when: z.string().nullable().describe('What makes it so; null where it holds.'),
  })
  .meta({ id: 'ExplanationCondition' });
export type ExplanationCondition = z.infer<typeof ConditionSchema>;

export const ExplanationSchema = z
  .strictObject({
    state: z.string().describe('How it stands, in a word.'),
    since: z.string().nullable().describe('Since when, as far as it is known.'),
    conditions: z.array(ConditionSchema).describe('What must be so for it to go on, in the order in which it counts.'),
    next: z
      .strictObject({
        event: z.string().describe('What it waits for.'),
        at: z.string().nullable().describe('When that is due; null where a time does not decide.'),
      })
      .nullable()
      .describe('What comes next; null where nothing is to come.'),
    command: z.string().nullable().describe('What a person can do about the first condition that does not hold.'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof ExplanationSchema>;
