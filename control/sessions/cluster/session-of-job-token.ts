import { tokenKindOf } from '../../../domain/access/token-format.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findJobOfToken, saveJobToken } from '../../../store/sessions/job-orders.ts';
import { hashToken, isHashOf, newToken } from '../../access/token-secret.ts';

/**
 * A new token for the Job of a session: with it its pod asks for orders and hands in the session's runs. Earlier tokens of the
 * Job stay good, since a pod may have one of them already. Shown only here; the Job must be on record.
 */
export async function issueJobToken(db: Db, sessionId: string, now: Date): Promise<string> {
  const token = newToken('job');
  await saveJobToken(db, sessionId, hashToken(token), now);
  return token;
}

/** The session whose Job a token is of; null for anything else, and `spoolSeconds` after that Job ended. */
export async function sessionOfJobToken(
  db: Db,
  token: string,
  { spoolSeconds, now }: { spoolSeconds: number; now: Date },
): Promise<string | null> {
  if (tokenKindOf(token) !== 'job') return null;
  const owner = await findJobOfToken(db, hashToken(token));
  if (owner === undefined || !isHashOf(owner.hash, token)) return null;
  const voidAt = owner.endedAt === null ? Number.POSITIVE_INFINITY : owner.endedAt.getTime() + spoolSeconds * 1000;
  return now.getTime() < voidAt ? owner.sessionId : null;
}
