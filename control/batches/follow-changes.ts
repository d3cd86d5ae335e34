import type { Client } from '@temporalio/client';
import { BATCHER_CHANNEL } from '../../store/batches/batcher-state.ts';
import { type FollowChannelOptions, followChannel } from '../changes/follow-channel.ts';
import { wakeBatcher } from './wake-batcher.ts';

export interface FollowChangesOptions extends Pick<FollowChannelOptions, 'database' | 'log'> {
  client: Client;
}

/**
 * Wakes the batcher when the database announces a change that may make a component pending; answers how to stop. One that is
 * lost is found by the batcher's next pass.
 */
export function followChanges({ client, ...options }: FollowChangesOptions): () => Promise<void> {
  return followChannel({
    ...options,
    name: 'muster-batcher',
    channel: BATCHER_CHANNEL,
    act: () => wakeBatcher(client),
  });
}
