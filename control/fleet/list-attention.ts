import { attentionItems, firstItems } from '../../domain/fleet/attention.ts';
import { type Attention, WAITS_LONG_MINUTES } from '../../domain/fleet/attention-schema.ts';
import type { WorkersAtWork } from '../../domain/sessions/workers-at-work.ts';
import { groupFailures } from '../../store/components/last-failures.ts';
import type { Db } from '../../store/connection/database.ts';
import { readTrouble } from '../../store/fleet/attention.ts';
import { readBatcher } from '../batches/read-batches.ts';
import { readDisk } from '../service/read-disk.ts';

interface AttentionDependencies {
  db: Db;
  clock(): Date;
  dataDir: string;
  /** Rejects when Temporal does not say. */
  readWorkers(): Promise<WorkersAtWork>;
}

/** Returns what needs a person now, the worst first. */
export async function listAttention({ db, clock, dataDir, readWorkers }: AttentionDependencies): Promise<Attention> {
  const now = clock();
  const waitsSince = new Date(now.getTime() - WAITS_LONG_MINUTES * 60_000);
  const [failures, stored, batcher, workers, disk] = await Promise.all([
    groupFailures(db),
    readTrouble(db, now, waitsSince),
    readBatcher({ db, clock }),
    // Whether Temporal answers is no matter of workers.
    readWorkers().catch(() => null),
    readDisk(dataDir),
  ]);
  const items = attentionItems({
    ...{ failures, ...stored, isBatcherLate: batcher.state === 'late' },
    workers: workers?.ok === false ? workers.reason : null,
    disk: disk?.low === true ? disk : null,
  });
  const first = firstItems(items);
  return { items: first, more: items.length - first.length, as_of: now.toISOString() };
}
