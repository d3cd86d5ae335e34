import { tokenKindOf } from '../../domain/access/token-format.ts';
import type { Db } from '../../store/connection/database.ts';
import { findRunOfToken } from '../../store/runs/run-tokens.ts';
import { hashToken, isHashOf } from '../access/token-secret.ts';

/**
 * The run that a token lets its bearer write; null for anything that is no valid run token. A token is void `spoolSeconds`
 * after its run ended: so long a runner may hand in what it could not deliver before.
 */
export async function runOfToken(
  db: Db,
  token: string,
  { spoolSeconds, now }: { spoolSeconds: number; now: Date },
): Promise<string | null> {
  if (tokenKindOf(token) !== 'run') return null;
  const owner = await findRunOfToken(db, hashToken(token));
  if (owner === undefined || !isHashOf(owner.hash, token)) return null;
  const voidAt = owner.endedAt === null ? Number.POSITIVE_INFINITY : owner.endedAt.getTime() + spoolSeconds * 1000;
  return now.getTime() < voidAt ? owner.runId : null;
}
