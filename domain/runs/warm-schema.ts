import { z } from 'zod';

export const WARM_STATES = ['loading', 'ready', 'refused'] as const;

/** What `status` says of one process that has imported Ansible. */
export const WarmViewSchema = z.object({
  pid: z.int().nullable(),
  state: z.enum(WARM_STATES),
  /** Why this Ansible cannot be kept. */
  why: z.string().nullable(),
});
export type WarmView = z.infer<typeof WarmViewSchema>;

/** The file by which a worker says what it keeps. */
export const WarmNoteSchema = z.array(WarmViewSchema.extend({ start_time: z.string(), boot_id: z.string() }));
export type WarmNote = z.infer<typeof WarmNoteSchema>;
