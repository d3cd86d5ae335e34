/**
 * Repositories that are read from git. A user asks for a sync, which has a number; a worker takes in all definitions of a commit or none;
 * the number of the sync that has ended is written with how it has ended, so a sync that is done twice, or that nobody wants any more,
 * changes nothing.
 */
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { musterError } from '../../domain/errors.ts';
import { SYNC_REASON_MAX } from '../../domain/propagation/git-repository.ts';
import { syncWorkflowId } from '../../domain/propagation/workflow-id.ts';
import { storableText } from '../../domain/runs/storable-text.ts';
import type { Db } from '../../store/connection/database.ts';
import { findRepository, type RepositoryRow } from '../../store/propagation/definitions.ts';
import {
  endSync,
  findRepositoryOfId,
  listWantedSyncs,
  lockRepositoryOfId,
  wantSync,
} from '../../store/propagation/repository-syncs.ts';
import { syncWanted } from '../../workflows/propagation/messages.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';
import type { ModelDependencies } from './dependencies.ts';
import { refuseShipped, repositoryNotFound } from './put-definition.ts';

/** Time (ms) in which one sweep tells Temporal of syncs; the next one goes on. */
const TELL_MS = 20_000;

export interface SyncDependencies extends ModelDependencies {
  tell: Tell;
}

/** The workflow of a repository of which a sync is wanted. */
export function wantedSync(repository: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.syncRepository,
    workflowId: syncWorkflowId(repository),
    args: [{ repository }],
    staticSummary: `reads the repository of definitions ${repository}`,
    signal: syncWanted,
  };
}

/**
 * Asks for a sync, which reads what the branch has from now on, also where another sync goes on.
 * Throws `repository_not_found`, `repository_read_only`, `validation_failed`.
 */
export async function requestSync(deps: SyncDependencies, name: string): Promise<RepositoryRow> {
  refuseShipped(name);
  const row = await wantSync(deps.db, name, { now: deps.clock(), actor: deps.actor });
  if (row === null) {
    if ((await findRepository(deps.db, name)) === null) throw repositoryNotFound(name);
    const fix = `definitions are put into it with \`./muster repository add ${name} FOLDER\``;
    throw musterError('validation_failed', `Repository ${name} is not read from git: ${fix}`, 'repository');
  }
  await deps.tell([wantedSync(row.id)]);
  return row;
}

/** Tells Temporal again of each repository of which a sync is wanted. */
export async function sweepSyncs({ db, tell }: { db: Db; tell: Tell }): Promise<void> {
  await tell((await listWantedSyncs(db)).map(wantedSync), TELL_MS);
}

/** Returns the number of the sync that is to be made, null where none is wanted or the repository is gone. */
export async function beginSync(db: Db, repository: string): Promise<number | null> {
  const row = await findRepositoryOfId(db, repository);
  return row !== null && row.sync_wanted > row.sync_done ? row.sync_wanted : null;
}

/** Notes that a sync has failed. Harmless where the sync has ended or the repository is gone. */
export async function failSync(
  { db, clock }: { db: Db; clock(): Date },
  { repository, sync, code, reason }: { repository: string; sync: number; code: string; reason: string },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockRepositoryOfId(trx, repository);
    if (row === null || row.sync_done >= sync) return;
    await endSync(trx, repository, sync, { code, reason: storableText(reason.slice(0, SYNC_REASON_MAX)) }, clock());
  });
}
