import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import { type ImageJobRequest, withJobDefaults } from '../../domain/images/job-defaults.ts';
import { publicKeyLine } from '../../domain/images/public-key.ts';
import type { ImageJobCreate, ImageJobView } from '../../domain/images/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  anyImageJob,
  countImageJobSet,
  type ImageWorkerRow,
  insertImageJob,
  listImageWorkers,
  lockImageJobSet,
} from '../../store/images/image-jobs.ts';
import { findPublicKey, type ImageRow, lockImage } from '../../store/images/images.ts';
import { viewOfImageJob } from './image-views.ts';
import type { ImageDependencies } from './ports.ts';
import { wantedImageJob } from './wanted-image-job.ts';

/** A machine that did not say for so long that it is there is not, ms: it does so every 20 s. */
export const WORKER_SILENT_MS = 70_000;

/**
 * Makes a job that customises an image, and starts it. The answer means that the record is there; the job goes on by itself.
 * @throws `image_reference_unknown`, `image_request_invalid` for one job more of a set than can ever be open, and `image_builder_unavailable` where no
 * machine can do it
 */
export async function createImageJob(
  deps: Pick<ImageDependencies, 'db' | 'tell' | 'imageSettings' | 'clock'>,
  by: Acting,
  wanted: ImageJobCreate,
): Promise<ImageJobView> {
  if (wanted.job_type !== 'customize') {
    const detail = 'This image service has no recipes: job_type must be customize';
    throw musterError('image_reference_unknown', detail, 'job_type');
  }
  const row = await deps.db.transaction().execute(async (trx) => {
    // Whoever removes the image meanwhile waits, and then sees the job.
    const image = await lockImage(trx, wanted.artifact_id);
    // An earlier try of the same operation was killed before it answered.
    const before = by.operation ? await anyImageJob(trx, by.operation) : null;
    if (before !== null) return before;
    const storeId = storeOf(wanted.artifact_id, image);
    const arch = image?.arch ?? 'x86_64';
    const request: ImageJobRequest = withJobDefaults(wanted, arch, deps.imageSettings.dkms);
    const publicKey = await keyLine(trx, wanted.public_key_id);
    const workers = await ableWorkers(trx, storeId, deps.clock());
    await checkSet(trx, request, workers);
    return insertImageJob(trx, {
      id: by.operation ?? randomUUID(),
      image_id: wanted.artifact_id,
      format: image?.format ?? null,
      request,
      arch,
      public_key: publicKey,
      store_id: storeId,
      result_id: randomUUID(),
      created_at: deps.clock(),
      actor: by.actor,
    });
  });
  if (row.deleted_at === null) await deps.tell([wantedImageJob(row.id)]);
  return viewOfImageJob(row);
}

function storeOf(id: string, image: ImageRow | null): string {
  if (image === null) {
    throw musterError('image_reference_unknown', `There is no image with the id ${id}`, 'artifact_id');
  }
  if (image.store_id !== null) return image.store_id;
  const detail = `Image ${id} has no file here: import it (./muster image import)`;
  throw musterError('image_reference_unknown', detail, 'artifact_id');
}

async function keyLine(db: Db, id: string): Promise<string> {
  const key = await findPublicKey(db, id);
  if (key === null) {
    throw musterError('image_reference_unknown', `There is no public key with the id ${id}`, 'public_key_id');
  }
  const line = publicKeyLine(key.public_key);
  if (line !== null) return line;
  const detail = `Public key ${id} is no line of the form TYPE KEY COMMENT as ssh-keygen writes it`;
  throw musterError('image_reference_unknown', detail, 'public_key_id');
}

async function ableWorkers(db: Db, storeId: string, now: Date): Promise<ImageWorkerRow[]> {
  const workers = await listImageWorkers(db, storeId);
  const live = workers.filter(({ seen_at }) => now.getTime() - seen_at.getTime() < WORKER_SILENT_MS);
  const able = live.filter((worker) => worker.able);
  if (able.length > 0) return able;
  const reason = live[0]?.reason ?? 'no worker has its directory of images';
  throw musterError('image_builder_unavailable', `Images cannot be customised now: ${reason}`);
}

/** A set is open as a whole, each job of it on a port of its own: with more jobs than ports it would wait for itself. */
async function checkSet(db: Db, request: ImageJobRequest, workers: readonly ImageWorkerRow[]): Promise<void> {
  const ports = Math.max(
    ...workers.map(({ first_port: first, last_port: last }) =>
      first === null || last === null ? Number.POSITIVE_INFINITY : last - first + 1,
    ),
  );
  if (ports === Number.POSITIVE_INFINITY) return;
  await lockImageJobSet(db, request);
  const others = await countImageJobSet(db, request);
  if (others < ports) return;
  const detail =
    `${others} image jobs of this key and this name of the shell, as those of one session, are to be open at once already, ` +
    `and there are ${ports} ports for them: give more (MUSTER_IMAGE_PORTS), or customise fewer images at once`;
  throw musterError('image_request_invalid', detail, 'public_key_id');
}
