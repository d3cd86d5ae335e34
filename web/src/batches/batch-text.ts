/** Batches in words. */
import type { Batch, Batcher } from '../../../domain/batches/batch-schema.ts';

/** Until when an open batch waits. */
export const WAITS_UNTIL: Readonly<Record<NonNullable<Batch['why_not']>, string>> = {
  controller: 'a fault of the controller is over',
  window: 'its window ends, or it is full',
  backoff: 'the back-off of the batcher ends',
  probe: 'the batch that was sent alone ends',
  key_backoff: 'the back-off of its key ends',
  queue: 'sessions that wait for a slot have begun',
  lease: 'other sessions give its components free',
  rollout: 'the rollout of its configuration has room',
  paused: 'the batcher, or its key, is resumed',
  disabled: 'option batcher_disable is set to false',
};

/** What each state of the batcher means. */
export const BATCHER_WHY: Readonly<Record<Batcher['state'], string>> = {
  working: 'batches are sent as they become due',
  backoff: 'many batches failed, so all sending is held back',
  paused: 'nothing is sent until it is resumed',
  disabled: 'option batcher_disable is true',
  late: 'no pass was made when one was due: see whether a worker runs',
};
