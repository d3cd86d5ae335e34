/** Who is told, by webhooks, of what happens to deployments and clusters. */
import { type ContextState, isAtWork } from '../../domain/deployments/context-state.ts';
import { deploymentName } from '../../domain/deployments/deployment-name.ts';
import { groupNames } from '../../domain/deployments/record-path.ts';
import type { Db } from '../../store/connection/database.ts';
import { noticeCredentialEnds, noticeEnd } from '../../store/deployments/notices.ts';

/** So long before the end of a credential it is told of, ms. */
const BEFORE_END_MS = 14 * 24 * 60 * 60_000;

/** Tells that an AppContext has come to an end of a phase; that of a logical cloud is told of to none. */
export async function tellEnd(
  trx: Db,
  { id, owner }: { id: string; owner: string },
  state: ContextState,
): Promise<void> {
  if (isAtWork(state) || groupNames(owner).name === '') return;
  await noticeEnd(trx, deploymentName(owner), id, state);
}

/** Makes the sweep that tells of credentials that end soon, each once. */
export function createCredentialSweep({ db, clock }: { db: Db; clock(): Date }): () => Promise<void> {
  return () => noticeCredentialEnds(db, new Date(clock().getTime() + BEFORE_END_MS));
}
