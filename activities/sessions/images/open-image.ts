import { noteImage } from '../../../control/sessions/images/session-images.ts';
import { loadSession } from '../../../control/sessions/session-progress.ts';
import { ERRORS, isMusterError, musterError } from '../../../domain/errors.ts';
import type { ImageJob, ImageService } from '../../../domain/images/image-service.ts';
import { isWantedJob, shellState } from '../../../domain/sessions/images/image-jobs.ts';
import { serviceImageId } from '../../../domain/sessions/images/image-names.ts';
import { messageOf } from '../../../domain/text/message-of.ts';
import type { SessionImageRow } from '../../../store/sessions/session-images.ts';
import {
  findKnownImageJobs,
  findSessionImage,
  listSessionImages,
  writeImageJob,
  writeImagePosted,
  writeImageQueued,
} from '../../../store/sessions/session-images.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import type { ImageRef } from '../image-contract.ts';
import type { ImageDependencies } from '../image-ports.ts';
import { JOB_PAUSE, LOGIN_PAUSE, notReady, serviceOf, waitIsOver } from './image-waiting.ts';

/**
 * Brings an image one step nearer to a shell that one can log in to: makes its job, unless it was made, looks at it, tries to
 * log in. Until that works it fails with `image_not_ready`, at last with `image_wait_timeout` (cfs-flows 3.3).
 */
export async function openImage(deps: ImageDependencies, input: ImageRef, signal: AbortSignal): Promise<void> {
  const { db, imageShells, imageKeys } = deps;
  const service = serviceOf(deps);
  const session = await loadSession(db, input.sessionId);
  const row = await imageOf(deps, input);
  if (row.state === 'open') return;
  const since = row.started_at ?? deps.clock();
  if (row.started_at === null) await noteImage(deps, row, { started_at: since }, 'images');
  let queued = false;
  try {
    const shell = shellState(await jobOf(deps, service, session, row, signal), session.name);
    if (shell.state === 'over') throw musterError('image_job_failed', `image ${row.image_id}: ${shell.message}`);
    if (shell.state === 'not yet') {
      queued = shell.queued;
      throw notReady(shell.message, JOB_PAUSE);
    }
    const key = await imageKeys.read(session.id);
    if (key === null) throw musterError('image_job_failed', `image ${row.image_id}: the key of the session is gone`);
    const { host, port } = shell.at;
    const problem = await imageShells.run({ host, port, privateKey: key.privateKey, command: 'true', signal });
    if (problem !== null) throw notReady(`no login at ${host} port ${port} yet: ${problem}`, LOGIN_PAUSE);
    await noteImage(deps, row, { state: 'open', host, port, message: '' }, 'images');
  } catch (error) {
    if (signal.aborted) throw error;
    const message = messageOf(error);
    const final = isMusterError(error) && !ERRORS[error.code].retryable;
    await noteImage(deps, row, { message, ...(final ? { state: 'failed' } : {}) }, 'images');
    if (final) throw error;
    if (queued) await writeImageQueued(db, session.id, row.image_id, deps.clock());
    const wait = { since, queuedAt: row.queued_at, queued };
    const over = waitIsOver(await listSessionImages(db, session.id), wait, deps);
    if (over === null) throw error;
    throw musterError('image_wait_timeout', `image ${row.image_id}: no login ${over}: ${message}`);
  }
}

/** Says that a try comes too late: the engine has given it up, and what the session had at the image service was released. */
export function imagesReleased({ name }: Pick<SessionRow, 'name'>): Error {
  return musterError('cancelled', `the images of session ${name} were released`);
}

/** The record of an image; it is made when the images are planned. */
export async function imageOf({ db }: Pick<ImageDependencies, 'db'>, input: ImageRef): Promise<SessionImageRow> {
  const row = await findSessionImage(db, input.sessionId, input.image);
  if (row === null) throw musterError('internal', `image ${input.image} of session ${input.sessionId} is not planned`);
  return row;
}

/** The image's job: the one that is known, else the one of a try whose answer was lost, else a new one. */
async function jobOf(
  deps: ImageDependencies,
  service: ImageService,
  session: SessionRow,
  row: SessionImageRow,
  signal: AbortSignal,
): Promise<ImageJob | null> {
  if (row.job_id !== null) return service.getJob(row.job_id, signal);
  const found = row.posted ? await lostJob(deps, service, session, row, signal) : null;
  const job = found ?? (await postJob(deps, service, session, row));
  await writeImageJob(deps.db, session.id, row.image_id, job.id, deps.clock(), !row.posted);
  return job;
}

async function lostJob(
  { db }: ImageDependencies,
  service: ImageService,
  session: SessionRow,
  row: SessionImageRow,
  signal: AbortSignal,
): Promise<ImageJob | null> {
  const wanted = wantedJob(session, row);
  const jobs = await service.listJobs(signal);
  const known = await findKnownImageJobs(
    db,
    jobs.map(({ id }) => id),
  );
  return jobs.find((job) => isWantedJob(job, wanted, known)) ?? null;
}

/** What the job of an image is known by. */
export const wantedJob = (session: Pick<SessionRow, 'name'>, row: SessionImageRow) => ({
  image: row.image_id,
  resultName: row.result_name,
  sessionName: session.name,
  publicKeyId: row.public_key_id,
});

/** Asks for the job; a cancel does not break it off, so that what was made is known. */
async function postJob(
  { db, clock }: ImageDependencies,
  service: ImageService,
  session: SessionRow,
  row: SessionImageRow,
): Promise<ImageJob> {
  if (row.public_key_id === null) throw musterError('internal', `session ${session.name} has no key for images`);
  if (!(await writeImagePosted(db, session.id, row.image_id, clock()))) throw imagesReleased(session);
  return service.createJob(
    {
      imageId: serviceImageId(row.image_id),
      resultName: row.result_name,
      publicKeyId: row.public_key_id,
      shellName: session.name,
      requireDkms: session.snapshot.layers.some((layer) => layer.require_dkms),
    },
    new AbortController().signal,
  );
}
