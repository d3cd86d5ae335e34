import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { isEnd } from '../../domain/images/job-status.ts';
import { imageJobWorkflowId } from '../../domain/images/workflow-id.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetImageJobs, liveImageQueues, openImageJobs } from '../../store/images/image-jobs.ts';
import { releaseLeftPorts } from '../../store/images/shell-ports.ts';
import { WORKER_SILENT_MS } from './create-image-job.ts';
import type { ImageEngine } from './ports.ts';

/** A job this young may still be on its way to the engine. */
const SETTLE_MS = 20_000;

/**
 * Goes on with jobs whose workflow is not there, says those again that are over to workflows that may not have heard it, and forgets deleted ones of
 * which nothing is left; ports of jobs that are over are given back. Answers the queues of machines.
 */
export async function sweepImageJobs(deps: {
  db: Db;
  client: Client;
  imageEngine: ImageEngine;
  clock(): Date;
}): Promise<{ queues: string[] }> {
  const now = deps.clock().getTime();
  for (const job of await openImageJobs(deps.db, new Date(now - SETTLE_MS))) {
    if (job.cleaned) await forgetImageJobs(deps.db, [job.id]);
    else if (!(await isRunning(deps.client, job.id))) await deps.imageEngine.start(job.id);
    else if (job.deleted_at !== null || isEnd(job.status)) await deps.imageEngine.end(job.id);
  }
  await releaseLeftPorts(deps.db, deps.clock());
  return { queues: await liveImageQueues(deps.db, new Date(now - WORKER_SILENT_MS)) };
}

async function isRunning(client: Client, jobId: string): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(imageJobWorkflowId(jobId)).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
