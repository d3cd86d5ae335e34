import { createHash } from 'node:crypto';
import { uuidOf } from '../../../domain/text/uuid.ts';

/**
 * Name of a session's job: `cfs-<uuid4>` (cfs-flows 1.3), always the same for one admission of a session, and as random as its id. What clients
 * write into `status.session.job` names nothing on the cluster: they could name what is another's. A session that is admitted once more,
 * after its database was restored, has another one: the Job of before tells nothing of it.
 */
export function jobNameOf(sessionId: string, admittedAt: Date | null): string {
  const digest = createHash('sha256')
    .update(`job of ${sessionId} ${admittedAt?.getTime() ?? ''}`)
    .digest('hex');
  // No digit is lost to the version: Jobs of earlier releases run under such names.
  return `cfs-${uuidOf(`${digest.slice(0, 12)}4${digest.slice(12)}`)}`;
}
