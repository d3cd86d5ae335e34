import { randomUUID } from 'node:crypto';
import { batchKey } from '../../domain/batches/batch-key.ts';
import { joinBatches } from '../../domain/batches/join-batches.ts';
import { trimBatches } from '../../domain/batches/trim-batches.ts';
import { type CandidateRow, dropStaleMembers, eachCandidatePage } from '../../store/batches/batch-candidates.ts';
import { joinMembers, openBatches } from '../../store/batches/batches.ts';
import { dropOthers } from '../../store/batches/canaries.ts';
import { trimMembers } from '../../store/batches/rollout-members.ts';
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
 * Puts every component that is enabled, pending, and in no batch and no session, into the batch of its key (cfs-flows 5.2.b).
 * Batches that wait are revised first, so what was re-targeted meanwhile is collected where it belongs. Of a rollout that is at its
 * canaries these alone are collected. Each page is one transaction.
 */
export async function collectCandidates({ db, clock, options }: PassDependencies): Promise<Collected> {
  const collected: Collected = { joined: 0, dropped: 0 };
  const gates = await readRolloutGates(db, options);
  const limitsOf = (configuration: string) => gates.get(configuration) ?? { size: options.batch_size, most: null };
  const canaries = [...gates].flatMap(([configuration, { canary }]) =>
    canary === null ? [] : { configuration, canary },
  );
  let unsent = await openBatches(db);
  if (unsent.length > 0) {
    collected.dropped = await dropStaleMembers(db, options);
    for (const { configuration, canary } of canaries) collected.dropped += await dropOthers(db, configuration, canary);
    if (collected.dropped > 0) unsent = await openBatches(db);
    const trims = trimBatches(unsent, limitsOf);
    await trimMembers(db, trims);
    if (trims.length > 0) unsent = await openBatches(db);
  }
  const now = clock();
  const join = joinBatches(unsent, {
    now: now.getTime(),
    limitsOf,
    newId: randomUUID,
  });
  const collect = async (page: CandidateRow[]): Promise<boolean> => {
    const { opened, joined } = join(
      page.map((row) => ({ ...row, key: batchKey(row.configuration, row.layers, row.last) })),
    );
    await db.transaction().execute((trx) => joinMembers(trx, opened, joined, now));
    collected.joined += joined.length;
    return joined.length === page.length;
  };
  const others = { except: canaries.map(({ configuration }) => configuration) };
  await eachCandidatePage(db, options, { size: PAGE, scope: others }, async (page) => {
    await collect(page);
    return true;
  });
  for (const scope of canaries) {
    // As soon as there are enough of them the rest is not looked at.
    const most = gates.get(scope.configuration)?.most ?? PAGE;
    if (most > 0) await eachCandidatePage(db, options, { size: Math.min(PAGE, most), scope }, collect);
  }
  return collected;
}
