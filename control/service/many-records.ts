/** The counts of a write to very many records, of which the first alone are rehearsed. */
import type { DryRunBecomes } from '../../domain/service/dry-run-schema.ts';

/** Records that a dry run writes and locks at most, where a filter or a selection chooses them. */
export const MOST_REHEARSED = 1_000;

export interface ManyRecords {
  /** The body for the first records that would change. */
  sample: unknown;
  total: number;
  changed: number;
  unchanged: number;
  becomes: DryRunBecomes[];
  /** Members of the answer that are about all of them. */
  answer: Record<string, unknown>;
}
