/** What the engine reads and notes of a session while it works on it. */

import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import { musterError } from '../../domain/errors.ts';
import { storableText } from '../../domain/runs/storable-text.ts';
import { warningOf } from '../../domain/runs/warning-of.ts';
import { progressOf, type SessionStep } from '../../domain/sessions/progress.ts';
import type { Snapshot, SnapshotRepository } from '../../domain/sessions/schema.ts';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import { writeProgress, writeSnapshot } from '../../store/sessions/progress.ts';
import { findSessionById, lockSessionById, type SessionRow } from '../../store/sessions/sessions.ts';

/** The session by its id, a deleted one too (its work goes on until it is ended). */
export async function loadSession(db: Db, sessionId: string): Promise<SessionRow> {
  const session = isWrittenUuid(sessionId) ? await findSessionById(db, sessionId) : null;
  if (session === null) throw musterError('session_not_found', `Session ${sessionId} could not be found`);
  return session;
}

/** What notes on a session are written with. */
export interface NoteDependencies {
  db: Db;
  clock(): Date;
}

/** Writes what is being done now, for people. */
export async function noteProgress(
  { db, clock }: NoteDependencies,
  sessionId: string,
  step: SessionStep,
): Promise<void> {
  const progress = progressOf(step);
  await writeProgress(db, sessionId, { ...progress, message: storableText(progress.message) }, clock());
}

/** Adds warnings to the session's events. */
export async function noteWarnings(
  { db, clock }: NoteDependencies,
  sessionId: string,
  warnings: string[],
): Promise<void> {
  const time = clock();
  await appendEvents(
    db,
    { streamId: sessionId, runId: null, layer: null, attempt: null },
    warnings.map((message) => warningOf(message, time)),
  );
}

/**
 * Pins the commits that were found, once: what is recorded is what runs. Throws `changed_meanwhile` when another try, from which a worker was
 * cut off, has pinned another commit; the next try uses that.
 */
export async function pinCommits(
  { db, clock }: NoteDependencies,
  sessionId: string,
  snapshot: Snapshot,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const pinned = (await lockSessionById(trx, sessionId))?.snapshot;
    const before = pinned === undefined ? [] : repositoriesOf(pinned);
    const other = repositoriesOf(snapshot).find(({ commit }, index) => {
      const known = before[index]?.commit ?? null;
      return known !== null && known !== commit;
    });
    if (other !== undefined)
      throw musterError('changed_meanwhile', `${maskAddress(other.url)} was pinned to another commit meanwhile`);
    await writeSnapshot(trx, sessionId, snapshot, clock());
  });
}

const repositoriesOf = ({ layers, additional_inventory: inventory }: Snapshot): SnapshotRepository[] =>
  inventory === null ? layers : [...layers, inventory];
