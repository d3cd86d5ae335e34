import { purgeSession, removeSessionRecords } from '../../../control/sessions/purge-session.ts';
import { isMusterError } from '../../../domain/errors.ts';
import type { ImageService } from '../../../domain/images/image-service.ts';
import { deletedSessionsWithJobs, forgetSessionJobs } from '../../../store/sessions/session-images.ts';
import type { ImageDependencies } from '../image-ports.ts';

/** Deleted sessions that one sweep looks after, and for how long, ms. */
const SWEEP_MAX = 50;
const SWEEP_MS = 30_000;
/** Jobs that are deleted at the same time: a session may have thousands. */
const AT_ONCE = 20;

/**
 * Deletes the jobs of deleted sessions at the image service, then purges the sessions. A job that made an image is deleted too; its image stays
 * (cfs-flows 1.1.9). Returns the names of the sessions with a job that could not be deleted: the next sweep tries them again. The next sweep also
 * gets what is left after `withinMs`, and all of it when the image service cannot be reached.
 */
export async function deleteEndedJobs(
  { db, imageService: service, clock }: Pick<ImageDependencies, 'db' | 'imageService' | 'clock'>,
  signal: AbortSignal,
  withinMs = SWEEP_MS,
): Promise<string[]> {
  const left: string[] = [];
  const enough = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const sessions = await deletedSessionsWithJobs(db, SWEEP_MAX);
  // These need no image service.
  for (const { id } of sessions) {
    if (enough.aborted) return left;
    await removeSessionRecords(db, id);
  }
  if (service === null) return left;
  for (const { id, name, jobs } of sessions) {
    if (enough.aborted) break;
    try {
      await deleteAll({ db, service }, id, jobs, enough);
      await purgeSession(db, id, clock());
    } catch (error) {
      left.push(name);
      if (isMusterError(error) && error.code === 'image_service_unavailable') break;
    }
  }
  return left;
}

/** Deletes some at a time, and notes which are gone: the next sweep goes on with the others. Throws the first failure of those that were tried together. */
async function deleteAll(
  { db, service }: { db: ImageDependencies['db']; service: ImageService },
  sessionId: string,
  jobs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < jobs.length; start += AT_ONCE) {
    signal.throwIfAborted();
    const some = jobs.slice(start, start + AT_ONCE);
    const outcomes = await Promise.allSettled(some.map((job) => service.deleteJob(job, signal)));
    const gone = some.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    await forgetSessionJobs(db, sessionId, gone);
    const failure = outcomes.find((one) => one.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }
}
