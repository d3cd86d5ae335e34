import { setTimeout as delay } from 'node:timers/promises';
import { noteWarnings } from '../../../control/sessions/session-progress.ts';
import type { ClusterJobs } from '../../../domain/sessions/cluster/cluster-job.ts';
import { secretChange } from '../../../domain/sessions/cluster/secret-change.ts';
import type { Db } from '../../../store/connection/database.ts';
import type { SessionJobRow } from '../../../store/sessions/session-jobs.ts';
import { jobIdentity, type SecretDependencies, trimmed } from './job-secret.ts';

export interface KeepDependencies extends SecretDependencies {
  db: Db;
  clock(): Date;
  cluster: Pick<ClusterJobs, 'updateSecret'>;
}

/** How often the certificate in the Secret is looked at, ms; sooner when it is due sooner. */
const IDENTITY_LOOK = 60_000;

/**
 * Writes a renewed certificate into the Secret for as long as the Job goes on; each new trouble is told once. What is shown first
 * is written too: it may have been renewed while nobody looked. A key without a certificate is not, since the pod may have a
 * certificate that is still good.
 */
export async function keepSecret(
  deps: KeepDependencies,
  job: Pick<SessionJobRow, 'name' | 'session_id'>,
  signal: AbortSignal,
  lookMs = IDENTITY_LOOK,
): Promise<void> {
  let written = '';
  let told = '';
  while (!signal.aborted) {
    let pause = lookMs;
    try {
      const { values, warnings, lookAgainMs } = await jobIdentity(deps);
      const text = JSON.stringify(values);
      if (values.certificate !== undefined && text !== written && !signal.aborted) {
        const secrets = trimmed([values.private]);
        await deps.cluster.updateSecret(job.name, (now) => secretChange(now, values, secrets));
        written = text;
      }
      const warning = warnings.join('; ');
      if (warning !== '' && warning !== told) await noteWarnings(deps, job.session_id, warnings);
      told = warning;
      if (warning === '' && lookAgainMs !== null) pause = Math.min(lookMs, lookAgainMs);
    } catch {
      // Secrets or cluster are away: the next look tries again, and what the Job itself meets is told.
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}
