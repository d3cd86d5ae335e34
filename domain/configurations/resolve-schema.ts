/** Shapes of branches that are asked for their commits, with nothing stored. */
import { z } from 'zod';
import { atMost } from '../schema.ts';
import { LAYERS_MOST, LayerSchema } from './schema.ts';

export const ResolveBodySchema = z
  .strictObject({ layers: atMost(z.array(LayerSchema), LAYERS_MOST) })
  .meta({ id: 'ResolveBody' });

const ResolvedLayerSchema = z
  .strictObject({
    commit: z
      .string()
      .nullable()
      .describe('The commit that it would have; null where it has neither branch nor commit, or there is a problem.'),
    problem: z
      .strictObject({ code: z.string(), detail: z.string() })
      .nullable()
      .describe('Why it would be refused; null where it would not be.'),
  })
  .meta({ id: 'ResolvedLayer' });
export type ResolvedLayer = z.infer<typeof ResolvedLayerSchema>;

export const ResolveAnswerSchema = z
  .strictObject({ layers: z.array(ResolvedLayerSchema).describe('One for each layer, in its place.') })
  .meta({ id: 'ResolveAnswer' });
export type ResolveAnswer = z.infer<typeof ResolveAnswerSchema>;
