/** What the workflows of image jobs hand to their activities. */
import { z } from 'zod';
import { IdSchema } from '../runs/id-schema.ts';

export const ImageJobRefSchema = z.object({ jobId: IdSchema });
export type ImageJobRef = z.infer<typeof ImageJobRefSchema>;

export const ReadImageJobSchema = ImageJobRefSchema.extend({
  /** For how long no machine has taken up what the job asked of it; default 0. */
  untakenSeconds: z.number().min(0).optional(),
});
export type ReadImageJob = z.infer<typeof ReadImageJobSchema>;

export const TakeImageTurnSchema = ImageJobRefSchema.extend({
  status: z.enum(['fetching_image', 'packaging_artifacts']),
});
export type TakeImageTurn = z.infer<typeof TakeImageTurnSchema>;

export const ImageJobWordSchema = ImageJobRefSchema.extend({ message: z.string() });
export type ImageJobWord = z.infer<typeof ImageJobWordSchema>;
