/** Why a batch is not sent yet, in words for people. */
import type { WhyNot } from './plan-sends.ts';

/** What the batch waits for. */
export const WHY_NOT_WORDS: Readonly<Record<WhyNot, string>> = {
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
