import { randomUUID } from 'node:crypto';
import { batchKey } from '../../domain/automation/batch-key.ts';
import { joinBatches } from '../../domain/automation/join-batches.ts';
import { trimBatches } from '../../domain/automation/trim-batches.ts';
import { dropStaleMembers, eachCandidatePage } from '../../store/batch-candidates.ts';
import { joinMembers, openBatches } from '../../store/batches.ts';
import { trimMembers } from '../../store/rollout-members.ts';
import type { PassDependencies } from './batcher-ports.ts';
import { readRolloutGates } from './rollout-gates.ts';

/** Components collected at once; bounds the memory of a pass. */
const PAGE = 2_000;

export interface Collected {
  /** Components that joined a batch, and those that left one which was no longer theirs. */
  joined: number;
  dropped: number;
}

/**
 * Puts every component that is enabled, pending, and in no batch and no session, into the batch of its key (cfs-flows 5.2 b).
 * Batches that wait are revised first, so what was re-targeted meanwhile is collected where it belongs. Each page is one
 * transaction.
 */
export async function collectCandidates({ db, clock, options }: PassDependencies): Promise<Collected> {
  const collected: Collected = { joined: 0, dropped: 0 };
  const gates = await readRolloutGates(db, options);
  const limitsOf = (configuration: string) => gates.get(configuration) ?? { size: options.batch_size, most: null };
  let unsent = await openBatches(db);
  if (unsent.length > 0) {
    collected.dropped = await dropStaleMembers(db, options);
    const trims = trimBatches(unsent, limitsOf);
    await trimMembers(db, trims);
    if (collected.dropped > 0 || trims.length > 0) unsent = await openBatches(db);
  }
  const now = clock();
  const join = joinBatches(unsent, {
    now: now.getTime(),
    limitsOf,
    newId: randomUUID,
  });
  await eachCandidatePage(db, options, PAGE, async (page) => {
    const { opened, joined } = join(
      page.map((row) => ({ ...row, key: batchKey(row.configuration, row.layers, row.last) })),
    );
    await db.transaction().execute((trx) => joinMembers(trx, opened, joined, now));
    collected.joined += joined.length;
  });
  return collected;
}
