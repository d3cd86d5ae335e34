/** The shell of an image job: opened on a port that is free. */

import { setTimeout as pause } from 'node:timers/promises';
import { jobToWorkOn } from '../../control/images/job-work.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import { WAITS_FOR_TURN } from '../../domain/images/job-turn.ts';
import { noPortFree, PORT_REST_MS } from '../../domain/images/shell-ports.ts';
import type { ImageJobRow } from '../../store/images/image-jobs.ts';
import { moveImageJob, noteOnImageJob } from '../../store/images/image-jobs.ts';
import { endImageTurn } from '../../store/images/image-turns.ts';
import { keepImagePort, releaseImagePort, takeImagePort } from '../../store/images/shell-ports.ts';
import type { ImageWorkDependencies } from './machine-work.ts';

/** Ports that are tried before one gives up: others on this machine may have some. */
const PORT_TRIES = 20;

/** Between two looks for a port, ms, and how long one try looks, ms: less than it may take in all. */
const PORT_LOOK_MS = 2_000;

const PORT_WAIT_MS = 8 * 60_000;

/** Opens the environment on the job's port, or finds it open, and tells the user that it is his turn. */
export async function openRoot(deps: ImageWorkDependencies, jobId: string, signal: AbortSignal): Promise<void> {
  const job = await jobToWorkOn(deps.db, jobId, 'fetching_image', 'waiting_on_user');
  if (job === null) return;
  const { db, imageShells: shells } = deps;
  const { port, warnings } = await openOnSomePort(deps, job, signal);
  const now = deps.clock();
  await endImageTurn(db, jobId);
  await moveImageJob(db, jobId, 'waiting_on_user', {
    message: warnings.join('; '),
    host: shells.host,
    port,
    ...(job.waiting_since === null ? { waiting_since: now } : {}),
  });
}

/** On the port that the job has, as long as it can be had: clients know it. One that it had stays its own whatever else fails. */
async function openOnSomePort(deps: ImageWorkDependencies, job: ImageJobRow, signal: AbortSignal) {
  const { db, imageShells: shells, imageBuilder: builder } = deps;
  const { queue, address } = shells;
  const avoid: number[] = [];
  for (let known = job.port; ; known = null) {
    if (known !== null && !(await keepImagePort(db, queue, known, job.id))) continue;
    const port = known ?? (await somePort(deps, job.id, avoid, signal));
    try {
      return await builder.open(openRequest(job, port, address), signal);
    } catch (error) {
      const isTaken = isMusterError(error) && error.code === 'image_port_taken';
      if (isTaken || known === null) await releaseImagePort(db, queue, port, deps.clock());
      if (!isTaken || avoid.length === PORT_TRIES) throw error;
      avoid.push(port);
    }
  }
}

/**
 * The port that came with the job's turn, or another one. Where none is free, since another program has that one, it waits: meanwhile others may
 * have the turn. Throws `image_port_taken`, for another try.
 */
async function somePort(
  { db, clock, imageShells: { queue, ports } }: ImageWorkDependencies,
  jobId: string,
  avoid: readonly number[],
  signal: AbortSignal,
): Promise<number> {
  const [from, to] = ports;
  for (const until = performance.now() + PORT_WAIT_MS; ; await pause(PORT_LOOK_MS, undefined, { signal })) {
    const freeSince = new Date(clock().getTime() - PORT_REST_MS);
    const port = await takeImagePort(db, { queue, jobId, from, to, freeSince, avoid });
    if (port !== null) return port;
    await endImageTurn(db, jobId);
    await noteOnImageJob(db, jobId, `${WAITS_FOR_TURN}: ${noPortFree({ from, to })}`);
    if (performance.now() > until) throw musterError('image_port_taken', noPortFree({ from, to }));
  }
}

function openRequest(job: ImageJobRow, port: number, address: string) {
  const { shell, require_dkms } = job.request;
  const environment = {
    IMS_JOB_ID: job.id,
    IMS_ARCH: job.arch,
    IMS_DKMS_ENABLED: require_dkms ? 'True' : 'False',
  };
  const hostname = `image-${job.id.slice(0, 8)}`;
  return { jobId: job.id, publicKey: job.public_key, port, address, jail: shell.jail, hostname, environment };
}
