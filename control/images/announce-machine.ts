import type { ImageFiles } from '../../domain/images/image-files.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type Db, isConnectionError } from '../../store/connection/database.ts';
import { noteImageWorker } from '../../store/images/image-jobs.ts';
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
 * another installation's or cannot be used, it gets no work, and whoever asks for some hears why.
 */
export function createAnnouncement(
  { db, imageFiles, check, clock, log }: AnnounceDependencies,
  { queue, ports }: { queue: string; ports: readonly [number, number] },
): () => Promise<void> {
  let lacking: string[] = [];
  let unusable: string | null = null;
  let count = 0;
  const say = async () => {
    const isTime = count % LOOK_EVERY === 0;
    if (isTime || lacking.length > 0) {
      const before = lacking.join('; ');
      lacking = await check();
      if (lacking.length > 0 && lacking.join('; ') !== before) {
        log.info({ lacking }, 'this machine cannot customise images');
      }
    }
    if (isTime || unusable !== null) {
      const before = unusable;
      unusable = await whyUnusable(db, imageFiles);
      if (unusable !== null && unusable !== before) log.warn({}, unusable);
    }
    // Only now: what a look that failed would have found is looked for by the next word.
    count += 1;
    const reason = unusable ?? lacking.join('; ');
    await noteImageWorker(db, {
      store_id: imageFiles.storeId,
      queue,
      ports,
      able: reason === '',
      reason,
      seen_at: clock(),
    });
  };
  let isSaying = false;
  return async () => {
    // On a disk that hangs each word would keep one of the few threads that all files of this process share.
    if (isSaying) return;
    isSaying = true;
    await say().finally(() => {
      isSaying = false;
    });
  };
}

/** Why the directory of images cannot be worked in; null where it can. */
async function whyUnusable(db: Db, imageFiles: AnnounceDependencies['imageFiles']): Promise<string | null> {
  try {
    return await foreignDirectory({ db, imageFiles });
  } catch (error) {
    if (isConnectionError(error)) throw error;
    return `the directory of images (MUSTER_IMAGES_DIR) cannot be used: ${messageOf(error)}`;
  }
}
