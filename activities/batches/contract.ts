/** What the batcher asks of its activities. */

import type { PassRequest } from '../../domain/batches/activity-schema.ts';

export type { PassRequest };

export interface PassAnswer {
  /** Milliseconds until the next pass without a poke, at most. */
  waitMs: number;
  /** The instant of that pass, in milliseconds: what passes before the answer arrives is no delay. */
  nextAt: number;
  /** Milliseconds before which a poke has to wait: passes are to take a small part of the time only. */
  restMs: number;
  /** A sentence for who looks at the workflow alone. */
  summary: string;
}

export interface BatcherActivities {
  runBatcherPass(input: PassRequest): Promise<PassAnswer>;
  /** Starts the batcher if it does not run. */
  ensureBatcher(): Promise<void>;
}
