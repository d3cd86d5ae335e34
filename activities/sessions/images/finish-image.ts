import { noteImage } from '../../../control/sessions/images/session-images.ts';
import { loadSession } from '../../../control/sessions/session-progress.ts';
import { ERRORS, isMusterError } from '../../../domain/errors.ts';
import type { ImageJob } from '../../../domain/images/image-service.ts';
import { resultState, shellState } from '../../../domain/sessions/images/image-jobs.ts';
import { isImageOver } from '../../../domain/sessions/images/image-progress.ts';
import { messageOf } from '../../../domain/text/message-of.ts';
import type { SessionImageRow } from '../../../store/sessions/session-images.ts';
import { listSessionImages, writeImageQueued, writeImageResult } from '../../../store/sessions/session-images.ts';
import type { FinishedImage, FinishImage } from '../image-contract.ts';
import type { ImageDependencies } from '../image-ports.ts';
import { isOver, JOB_PAUSE, LOGIN_PAUSE, notReady, serviceOf, waitIsOver } from './image-waiting.ts';
import { imageOf } from './open-image.ts';

/** A job that is to end without an image gets this long to say so, seconds; then it is deleted all the same. */
const FAILING_SECONDS = 120;
const NO_JOB = { state: 'over', message: 'it has no job' } as const;

/**
 * Brings an image one step nearer to its end: sets the marker in it, then looks at its job until a new image has come of it,
 * which becomes an artifact of the session, or until it is known that none will. Until then it fails with `image_not_ready`
 * (cfs-flows 3.4). One that the limit has left out is left as it is: the release ends its job.
 */
export async function finishImage(
  deps: ImageDependencies,
  input: FinishImage,
  signal: AbortSignal,
): Promise<FinishedImage> {
  const { db, imageWaitSeconds } = deps;
  const row = await imageOf(deps, input);
  if (isImageOver(row.state)) return finished(row, row.message);
  const { fault } = input;
  const since = row.finishing_at ?? deps.clock();
  if (row.finishing_at === null) await noteImage(deps, row, { finishing_at: since }, 'teardown');
  let queued = false;
  try {
    const service = serviceOf(deps);
    const job = row.job_id === null ? null : await service.getJob(row.job_id, signal);
    const result = row.job_id === null ? NO_JOB : resultState(job);
    if (result.state === 'done' && fault === null) {
      const artifact = { image_id: row.image_id, result_id: result.resultId, type: 'ims_customized_image' };
      await writeImageResult(db, input.sessionId, artifact, deps.clock());
      return { resultName: row.result_name, resultId: result.resultId, message: '' };
    }
    if (result.state === 'done' || result.state === 'over') {
      return await failed(deps, row, fault ?? (result.state === 'over' ? result.message : ''));
    }
    if (row.state !== 'packaging') await setMarker(deps, input, row, job, signal);
    queued = result.queued;
    throw notReady(result.message, JOB_PAUSE);
  } catch (error) {
    if (signal.aborted) throw error;
    const message = messageOf(error);
    if (isMusterError(error) && !ERRORS[error.code].retryable) return failed(deps, row, message);
    await noteImage(deps, row, { message: fault ?? message }, 'teardown');
    if (fault !== null) {
      if (!isOver(deps.clock(), since, Math.min(imageWaitSeconds, FAILING_SECONDS))) throw error;
      return failed(deps, row, fault);
    }
    if (queued) await writeImageQueued(db, row.session_id, row.image_id, deps.clock());
    const wait = { since, queuedAt: row.queued_at, queued };
    const over = waitIsOver(await listSessionImages(db, row.session_id), wait, deps);
    if (over === null) throw error;
    return failed(deps, row, `no image ${over}: ${message}`);
  }
}

/**
 * Says in the image whether it is to become a new one; the image service looks for that. A shell that was opened again since the session
 * logged in may be elsewhere.
 */
async function setMarker(
  deps: ImageDependencies,
  { fault }: FinishImage,
  row: SessionImageRow,
  job: ImageJob | null,
  signal: AbortSignal,
): Promise<void> {
  const { db, imageKeys, imageShells } = deps;
  const session = await loadSession(db, row.session_id);
  const key = await imageKeys.read(session.id);
  const shell = shellState(job, session.name);
  const { host, port } = shell.state === 'open' ? shell.at : row;
  const problem =
    key === null || host === null || port === null
      ? 'its shell or the key of the session is not known'
      : await imageShells.run({
          host,
          port,
          privateKey: key.privateKey,
          command: `touch /tmp/${fault === null ? 'complete' : 'failed'}`,
          signal,
        });
  if (problem !== null) throw notReady(`the end of the work cannot be told to it: ${problem}`, LOGIN_PAUSE);
  await noteImage(deps, row, { state: 'packaging', message: fault ?? 'told that the work is done' }, 'teardown');
}

async function failed(deps: ImageDependencies, row: SessionImageRow, message: string): Promise<FinishedImage> {
  await noteImage(deps, row, { state: 'failed', message }, 'teardown');
  return finished({ ...row, result_id: null }, message);
}

const finished = (row: SessionImageRow, message: string): FinishedImage => ({
  resultName: row.result_name,
  resultId: row.result_id,
  message,
  ...(row.state === 'dropped' ? { leftOut: true } : {}),
});
