import { BATCHER_CHANNEL } from '../../store/batches/batcher-state.ts';
import { type FollowChannelOptions, followChannel } from '../changes/follow-channel.ts';
import type { Tell } from '../temporal/tell.ts';
import { pokedBatcher } from './wanted-batcher.ts';

export interface FollowChangesOptions extends Pick<FollowChannelOptions, 'database' | 'log'> {
  tell: Tell;
}

/**
 * Wakes the batcher when the database announces a change that may make a component pending. The next pass of the batcher finds a change
 * whose announcement is lost. Returns how to stop.
 */
export function followChanges({ tell, database, log }: FollowChangesOptions): () => Promise<void> {
  return followChannel({
    database,
    log,
    name: 'muster-batcher',
    channel: BATCHER_CHANNEL,
    act: () => tell([pokedBatcher()]),
  });
}
