/**
 * Writes of sources' secrets. Record and secret live in two places, so each change is noted before it touches the secret and the
 * note goes with the record's transaction. A note that stays, because the process died or a step failed, is settled
 * later: a secret that no source names is removed (cfs-api 15.18). A secret without a note is never touched: an
 * administrator may restore secrets before the sources that name them.
 */
import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { isSourceSecret } from '../../domain/configurations/source-rules.ts';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  beginSecretChange,
  breakOffSecretChange,
  endSecretChange,
  listSecretChanges,
  removeSecretChange,
} from '../../store/secrets/secret-changes.ts';
import { attributeTo } from '../access/attribute-writes.ts';

export interface SourceSecretDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'delete'>;
  log: { warn(object: object, message: string): void };
}

/** Age at which a change counts as broken off, ms: no request lasts so long. */
const BROKEN_OFF = 10 * 60_000;
/** How often broken-off changes are looked for, ms. */
const PERIOD = 60_000;

/** Notes that a secret is about to be changed. Returns the id of the change. */
export async function beginChange(db: Db, secretName: string): Promise<string> {
  const id = randomUUID();
  await beginSecretChange(db, id, secretName);
  return id;
}

/**
 * Writes the secret of a source, then the record that names it. When either fails the change is settled: a secret that was written is
 * tidied up before the error is told, and a store that did not take it is not waited for a second time.
 * Returns what `writeRecord` returns. Throws what the store or `writeRecord` throws; `changed_meanwhile` when the change was settled
 * before the record was written.
 */
export async function writeWithSecret<T>(
  deps: SourceSecretDependencies & { secrets: Pick<SecretStore, 'delete' | 'putAll'> },
  { actor }: Acting,
  secretName: string,
  readValues: () => Promise<Record<string, string>>,
  writeRecord: (trx: Db) => Promise<T>,
): Promise<T> {
  const change = await beginChange(deps.db, secretName);
  let isWritten = false;
  try {
    await deps.secrets.putAll(secretName, await readValues(), actor);
    isWritten = true;
    return await deps.db.transaction().execute(async (trx) => {
      const record = await writeRecord(trx);
      if (await endSecretChange(trx, change)) return record;
      throw musterError('changed_meanwhile', 'The credentials took too long to store; try again.');
    });
  } catch (error) {
    const settling = settleChange(deps, change);
    if (isWritten) await settling;
    throw error;
  }
}

/**
 * Settles one change: its secret goes unless a source names it or Muster did not make it. A failure is logged, not thrown: the
 * change stays and is settled later.
 */
export async function settleChange(deps: SourceSecretDependencies, id: string): Promise<void> {
  try {
    const secretName = await breakOffSecretChange(deps.db, id);
    if (secretName !== undefined && isSourceSecret(secretName)) await deps.secrets.delete(secretName);
    await removeSecretChange(deps.db, id);
  } catch (error) {
    deps.log.warn({ err: error }, "a source's secret could not be tidied up; it is tried again");
  }
}

/** Settles every change that was broken off before then. */
export async function settleBrokenOffChanges(deps: SourceSecretDependencies, before: Date): Promise<void> {
  for (const id of await listSecretChanges(deps.db, before)) await settleChange(deps, id);
}

/** Settles broken-off changes now and each minute; answers how to stop. */
export function keepSourceSecretsTidy(deps: SourceSecretDependencies & { clock(): Date }): () => void {
  const settle = () => {
    // While the database is away there is nothing to settle.
    const before = new Date(deps.clock().getTime() - BROKEN_OFF);
    attributeTo('sweep', () => settleBrokenOffChanges(deps, before)).catch(() => undefined);
  };
  settle();
  const timer = setInterval(settle, PERIOD);
  timer.unref();
  return () => clearInterval(timer);
}
