import { randomUUID } from 'node:crypto';
import type { ContainerState } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { Db } from '../../../store/connection/database.ts';
import { saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import type { NewSession } from '../../../store/sessions/sessions.ts';
import { makeSession } from '../temporal/engine-sessions.ts';
import type { FakeCluster } from './fake-cluster.ts';

const STATES = {
  open: { stage: 'admitted', status: 'running' },
  over: { stage: 'ended', status: 'complete' },
  deleted: { stage: 'ended', status: 'complete', deleted_at: new Date() },
} as const;

/** A Job that runs, of a session that goes on, or is over, or was deleted as well. */
export async function recordedJob(
  db: Db,
  cluster: FakeCluster,
  state: keyof typeof STATES = 'open',
  given: Partial<NewSession> = {},
): Promise<{ sessionId: string; name: string }> {
  const session = await makeSession(db, given);
  await db.updateTable('sessions').set(STATES[state]).where('id', '=', session.id).execute();
  const name = `cfs-${randomUUID()}`;
  await saveSessionJob(
    db,
    {
      sessionId: session.id,
      name,
      profile: 'restricted',
      inventory: { files: {} },
      leases: false,
    },
    new Date(),
  );
  cluster.put(name, { sessionId: session.id });
  return { sessionId: session.id, name };
}

/** The container `ansible`, ended with this exit status; null: it runs. */
export const ansible = (exitCode: number | null): ContainerState => ({
  name: 'ansible',
  state: exitCode === null ? 'running' : 'terminated',
  reason: '',
  message: '',
  exitCode,
});
