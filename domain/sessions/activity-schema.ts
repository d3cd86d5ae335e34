/** What the workflows of sessions hand to their activities. Members that a newer release adds are left out. */
import { z } from 'zod';
import { CountSchema, IdSchema } from '../runs/id-schema.ts';
import { RETRY_HOSTS, SUCCEEDED } from './schema.ts';
import type { SessionReason } from './session-reason.ts';

export const SessionRefSchema = z.object({ sessionId: IdSchema });
export type SessionRef = z.infer<typeof SessionRefSchema>;

export const RunRefSchema = SessionRefSchema.extend({ layer: CountSchema, attempt: CountSchema });
export type RunRef = z.infer<typeof RunRefSchema>;

export const RunLayerSchema = RunRefSchema.extend({
  /** `failed`: only hosts that did not succeed in the attempt before. */
  hosts: z.enum(RETRY_HOSTS),
});
export type RunLayer = z.infer<typeof RunLayerSchema>;

export const EndRunSchema = RunRefSchema.extend({
  /** The session's own time limit, seconds; only where that is why the run is to end. */
  timeoutSeconds: z.number().positive().optional(),
});
export type EndRun = z.infer<typeof EndRunSchema>;

export const SessionEndingSchema = SessionRefSchema.extend({
  succeeded: z.enum(SUCCEEDED).exclude(['none']),
  message: z.string(),
  /** A word of another release is taken as it is. */
  reason: z
    .string()
    .max(200)
    .transform((word) => word as SessionReason)
    .nullable(),
});
export type SessionEnding = z.infer<typeof SessionEndingSchema>;

export const HoldingSchema = SessionRefSchema.extend({ layer: CountSchema, message: z.string() });
export type Holding = z.infer<typeof HoldingSchema>;

export const FinishJobSchema = SessionRefSchema.extend({ exitCode: z.int().min(-1).max(255) });
export type FinishJob = z.infer<typeof FinishJobSchema>;

export const MachineRefSchema = z.object({ host: IdSchema });
export type MachineRef = z.infer<typeof MachineRefSchema>;

/** An image is named as its session names it; whether the session has it is looked up in its record. */
export const ImageRefSchema = SessionRefSchema.extend({ image: z.string().min(1).max(1_000) });
export type ImageRef = z.infer<typeof ImageRefSchema>;

export const JudgeImagesSchema = SessionRefSchema.extend({
  /** Of layers whose results nobody reported: their exit status, which then counts for all images (null: not known). */
  exitCode: z.int().nullable().optional(),
});
export type JudgeImages = z.infer<typeof JudgeImagesSchema>;

export const FinishImageSchema = ImageRefSchema.extend({
  /** Why it must not become a new image; null when it is good. */
  fault: z.string().nullable(),
});
export type FinishImage = z.infer<typeof FinishImageSchema>;
