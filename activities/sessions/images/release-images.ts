import { loadSession } from '../../../control/sessions/session-progress.ts';
import { isMusterError } from '../../../domain/errors.ts';
import type { ImageService } from '../../../domain/images/image-service.ts';
import { isWantedJob, resultState } from '../../../domain/sessions/images/image-jobs.ts';
import { imageKeyName } from '../../../domain/sessions/images/image-names.ts';
import type { SessionImageRow } from '../../../store/sessions/session-images.ts';
import {
  findKnownImageJobs,
  listSessionImages,
  sessionsWithLeftImages,
  writeImageReleased,
  writeImageResult,
} from '../../../store/sessions/session-images.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { deleteEndedJobs } from '../cluster/delete-ended-jobs.ts';
import type { ImageDependencies } from '../image-ports.ts';
import { serviceOf } from './image-waiting.ts';
import { wantedJob } from './open-image.ts';

/** A key or a job that was asked for and never answered may still appear for so long, ms. */
const LATE_MS = 60_000;
/** Ended sessions that one sweep looks after, and for how long, ms. */
const SWEEP_MAX = 50;
const SWEEP_MS = 60_000;

type ReleaseDependencies = Pick<ImageDependencies, 'db' | 'imageService' | 'imageKeys' | 'clock'>;

/**
 * Ends what a session has left at the image service: each job that made no image, known or found by what it was asked for, and
 * the public key; then its own key pair goes. Harmless to repeat. What cannot be ended now is tried again by the sweep, for
 * which the first failure is thrown after everything was tried.
 */
export async function releaseImages(deps: ReleaseDependencies, sessionId: string, signal: AbortSignal): Promise<void> {
  const { db, imageKeys } = deps;
  const rows = await listSessionImages(db, sessionId);
  const session = await loadSession(db, sessionId);
  const found = new Set<string>();
  const asked = rows.some(({ public_key_id, posted }) => public_key_id !== null || posted);
  if (asked || (await imageKeys.read(sessionId)) !== null) {
    const service = serviceOf(deps);
    await tryAll([
      ...rows.map((row) => endKnownJob(deps, service, row, signal)),
      deleteLostJobs(deps, service, session, rows, found, signal),
      deleteImageKey(deps, session, signal),
    ]);
  }
  const now = deps.clock().getTime();
  // By its key pair a key that is late is known.
  if (rows.some((row) => !found.has(row.image_id) && now - askedAt(row) < LATE_MS)) return;
  await imageKeys.remove(sessionId);
  await writeImageReleased(db, sessionId, new Date(now));
}

/** When something was asked for last of which there may be more than what is on record, ms; a former release did not note it. */
function askedAt({ posted, posted_at, job_id, updated_at }: SessionImageRow): number {
  const unanswered = posted && job_id === null ? updated_at : null;
  return (posted_at ?? unanswered)?.getTime() ?? Number.NEGATIVE_INFINITY;
}

/**
 * Deletes the job of an image, if its id is on record, unless it made a new one: that is an artifact of the session also where it was cancelled in
 * the moment before it heard of it.
 */
async function endKnownJob(
  { db, clock }: ReleaseDependencies,
  service: ImageService,
  { session_id, image_id, state, job_id }: SessionImageRow,
  signal: AbortSignal,
): Promise<void> {
  if (job_id === null || state === 'customized') return;
  const result = state === 'packaging' ? resultState(await service.getJob(job_id, signal)) : null;
  if (result?.state !== 'done') return service.deleteJob(job_id, signal);
  const artifact = { image_id, result_id: result.resultId, type: 'ims_customized_image' };
  await writeImageResult(db, session_id, artifact, clock());
}

/** Deletes jobs of a session whose making was never answered; images of which a job is there are added to `found`. */
async function deleteLostJobs(
  { db }: ReleaseDependencies,
  service: ImageService,
  session: SessionRow,
  rows: readonly SessionImageRow[],
  found: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  if (!rows.some(({ posted }) => posted)) return;
  const jobs = await service.listJobs(signal);
  const known = await findKnownImageJobs(
    db,
    jobs.map(({ id }) => id),
  );
  const own = new Set(rows.map(({ job_id }) => job_id));
  const lost: string[] = [];
  for (const job of jobs) {
    if (own.has(job.id)) continue;
    const row = rows.find((candidate) => isWantedJob(job, wantedJob(session, candidate), known));
    if (row === undefined) continue;
    found.add(row.image_id);
    lost.push(job.id);
  }
  await tryAll(lost.map((job) => service.deleteJob(job, signal)));
}

/** Waits for all, then throws the first failure. */
async function tryAll(work: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(work)).find((one) => one.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** Removes the session's public key from the image service, also one whose making was never answered. */
export async function deleteImageKey(
  deps: ReleaseDependencies,
  session: Pick<SessionRow, 'id' | 'name'>,
  signal: AbortSignal,
): Promise<void> {
  const { db, imageKeys } = deps;
  const service = serviceOf(deps);
  const ids = new Set((await listSessionImages(db, session.id)).flatMap(({ public_key_id: id }) => (id ? [id] : [])));
  const known = [...ids].map((id) => service.deletePublicKey(id, signal));
  await tryAll([...known, deleteLostKeys(imageKeys, service, session, ids, signal)]);
}

/** Removes keys of the session whose making was never answered. */
async function deleteLostKeys(
  imageKeys: ReleaseDependencies['imageKeys'],
  service: ImageService,
  session: Pick<SessionRow, 'id' | 'name'>,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const pair = await imageKeys.read(session.id);
  if (pair === null) return;
  const own = (await service.findPublicKeys(imageKeyName(session.name), signal)).filter(
    ({ id, publicKey }) => publicKey.trim() === pair.publicKey.trim() && !known.has(id),
  );
  await tryAll(own.map(({ id }) => service.deletePublicKey(id, signal)));
}

/**
 * Ends what ended sessions have left, and the jobs of deleted ones; answers the names of those of which something could not be ended yet. Others
 * wait for that: after `withinMs`, and when the image service is not there, the rest is left to the next sweep.
 */
export async function releaseLeftImages(
  deps: ReleaseDependencies,
  signal: AbortSignal,
  withinMs = SWEEP_MS,
): Promise<string[]> {
  const left: string[] = [];
  const enough = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  for (const session of await sessionsWithLeftImages(deps.db, SWEEP_MAX)) {
    if (enough.aborted) break;
    try {
      await releaseImages(deps, session.id, enough);
    } catch (error) {
      left.push(session.name);
      if (isMusterError(error) && error.code === 'image_service_unavailable') return left;
    }
  }
  return [...left, ...(await deleteEndedJobs(deps, signal))];
}
