import { musterError } from '../../domain/errors.ts';
import { ID_FORM } from '../../domain/runs/id-schema.ts';
import type { RunView } from '../../domain/runs/run-schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import type { Db } from '../../store/connection/database.ts';
import { type ReadRun, readRunWithHosts } from '../../store/runs/run-reads.ts';

/** The run with this id. Throws `run_not_found`. */
export async function getRun(db: Db, id: string): Promise<ReadRun> {
  const run = ID_FORM.test(id) ? await readRunWithHosts(db, id) : null;
  if (run === null) throw musterError('run_not_found', `There is no run with the id ${id}`);
  return run;
}

/** A run on the wire. */
export function runView(run: ReadRun): RunView {
  return {
    id: run.id,
    owner: run.owner === null ? null : { ...run.owner, name: run.ownerName },
    layer: run.layer,
    attempt: run.attempt,
    machine: run.machine,
    state: run.state,
    exit_status: run.exitStatus,
    error: run.error,
    created_at: wireTime(run.createdAt),
    started_at: run.startedAt === null ? null : wireTime(run.startedAt),
    ended_at: run.endedAt === null ? null : wireTime(run.endedAt),
    hosts: run.hosts,
    failed_hosts: run.failedHosts,
  };
}
