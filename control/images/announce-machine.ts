import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { Db } from '../../store/database.ts';
import { noteImageWorker } from '../../store/image-jobs.ts';
import { foreignDirectory } from './foreign-directory.ts';

export interface AnnounceDependencies {
  db: Db;
  imageFiles: Pick<ImageFiles, 'storeId' | 'claim'>;
  /** What keeps this machine from working on images; empty when nothing does. */
  check(): Promise<string[]>;
  clock(): Date;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Every how many words a machine that can do the work looks whether it still can. */
const LOOK_EVERY = 30;

/**
 * Answers what says that this machine is there, and whether it can work on images; to be called again and again. Where it cannot, or its directory is
 * another installation's, it gets no work, and whoever asks for some hears why.
 */
export function createAnnouncement(
  { db, imageFiles, check, clock, log }: AnnounceDependencies,
  { queue, ports }: { queue: string; ports: readonly [number, number] },
): () => Promise<void> {
  let lacking: string[] = [];
  let told: string | null = null;
  let count = 0;
  return async () => {
    if (lacking.length > 0 || count++ % LOOK_EVERY === 0) {
      const before = lacking.join('; ');
      lacking = await check();
      if (lacking.length > 0 && lacking.join('; ') !== before) {
        log.info({ lacking }, 'this machine cannot customise images');
      }
    }
    const foreign = await foreignDirectory({ db, imageFiles });
    if (foreign !== null && foreign !== told) log.warn({}, foreign);
    told = foreign;
    const reason = foreign ?? lacking.join('; ');
    await noteImageWorker(db, {
      store_id: imageFiles.storeId,
      queue,
      ports,
      able: reason === '',
      reason,
      seen_at: clock(),
    });
  };
}
