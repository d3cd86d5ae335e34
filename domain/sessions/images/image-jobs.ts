/** Which jobs of an image service are a session's, and what one that is there means (cfs-flows 3.3, 3.4, 7). */
import type { ImageEndpoint, ImageJob } from '../../images/image-service.ts';
import { waitsForTurn } from '../../images/job-turn.ts';
import { isSameImage } from './image-names.ts';

/** What a session asks for when it makes a job: enough to know the job again when the answer was lost. */
export interface WantedJob {
  image: string;
  resultName: string;
  sessionName: string;
  publicKeyId: string | null;
}

/**
 * Whether a job was made for this image of the session. A former session of the same name has made jobs of the same names, but
 * with another key; where the service does not say the key, jobs that another session is known to have made are not ours.
 */
export function isWantedJob(job: ImageJob, wanted: WantedJob, ofOthers: ReadonlySet<string>): boolean {
  if (!isSameImage(job.imageId, wanted.image) || job.resultName !== wanted.resultName) return false;
  if (!job.shells.some(({ name }) => name === wanted.sessionName)) return false;
  if (job.publicKeyId !== null && wanted.publicKeyId !== null) return job.publicKeyId === wanted.publicKeyId;
  return !ofOthers.has(job.id);
}

/** There is nothing to see yet. `queued`: the job waits for its turn at the service, which is no trouble of its own. */
interface NotYet {
  state: 'not yet';
  message: string;
  queued: boolean;
}

/** Where a job's shell is, once it waits for who uses it. */
export type ShellState = { state: 'open'; at: ImageEndpoint } | NotYet | { state: 'over'; message: string };

/** What a job says of its shell; null is a job that is gone. */
export function shellState(job: ImageJob | null, sessionName: string): ShellState {
  if (job === null) return { state: 'over', message: 'its job at the image service is gone' };
  if (job.status === 'error') return { state: 'over', message: withReason(job, 'its job ended in error') };
  if (job.status === 'success' || job.resultId !== null) {
    return { state: 'over', message: 'its job had ended before the session used it' };
  }
  if (job.status !== 'waiting_on_user') return notYet(job);
  const shell = job.shells.find(({ name }) => name === sessionName);
  if (shell === undefined) return { state: 'over', message: `its job ${job.id} has no shell named ${sessionName}` };
  if (shell.connection === null) return { state: 'not yet', message: 'its shell has no address yet', queued: false };
  return { state: 'open', at: shell.connection };
}

/** Whether a new image has come of a job whose marker was set. */
export type ResultState = { state: 'done'; resultId: string } | NotYet | { state: 'over'; message: string };

/** What a job says of its result; an id counts, whatever the status says. */
export function resultState(job: ImageJob | null): ResultState {
  if (job === null) return { state: 'over', message: 'its job at the image service is gone' };
  if (job.resultId !== null) return { state: 'done', resultId: job.resultId };
  if (job.status === 'error') return { state: 'over', message: withReason(job, 'its job ended in error') };
  if (job.status === 'success') return { state: 'over', message: 'its job ended without an image' };
  return notYet(job);
}

const notYet = (job: ImageJob): NotYet => ({
  state: 'not yet',
  message: withReason(job, job.status),
  queued: waitsForTurn(job),
});

function withReason({ message }: ImageJob, text: string): string {
  return message === '' ? text : `${text}: ${message}`;
}
