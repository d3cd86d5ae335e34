/** Shapes of an import: records of another CFS as they are, and what became of each. */
import { z } from 'zod';

/** Records that one request may bring. */
const IMPORT_BATCH = 1_000;

/** created and changed are written; equal was there as it is; skipped is left alone on purpose; failed cannot be taken. */
const IMPORT_OUTCOMES = ['created', 'changed', 'equal', 'skipped', 'failed'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

const ImportResultSchema = z.object({
  name: z.string(),
  outcome: z.enum(IMPORT_OUTCOMES),
  detail: z.string().optional().describe('why, or what was left out of the record'),
});
export type ImportResult = z.infer<typeof ImportResultSchema>;

/** Records as the other CFS answers them; each is checked by itself, so that a bad one does not keep the others out. */
export const ImportBodySchema = z.strictObject({ records: z.array(z.unknown()).max(IMPORT_BATCH) });

export const ImportQuerySchema = z.object({
  dry_run: z.boolean().optional().describe('say what would become of the records, and write nothing'),
  keep: z.boolean().optional().describe('leave records alone that exist and differ'),
});

/** How an import treats what it finds. */
export interface ImportMode {
  dryRun: boolean;
  /** Existing records that differ are skipped. */
  keep: boolean;
}

/** One result for each record, in the order of the request. */
export const ImportAnswerSchema = z.object({ results: z.array(ImportResultSchema) });
