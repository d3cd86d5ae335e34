import type { TokenView } from '../../domain/access/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { findToken, listTokens, type TokenRow } from '../../store/access/tokens.ts';
import type { Db } from '../../store/connection/database.ts';

interface ReadDependencies {
  db: Db;
  clock(): Date;
}

/** A token as it is shown at `now`. */
export function viewOfToken(row: TokenRow, now: Date): TokenView {
  const { id, name, role, component, created_at, actor, expires_at, last_used_at } = row;
  return {
    id,
    name,
    role,
    component,
    created_at: wireTime(created_at),
    created_by: actor,
    expires_at: expires_at && wireTime(expires_at),
    expired: expires_at !== null && expires_at <= now,
    last_used_at: last_used_at && wireTime(last_used_at),
  };
}

/** The token of an id or name; throws `token_not_found`, also for a revoked one. */
export async function getToken(deps: ReadDependencies, idOrName: string): Promise<TokenView> {
  const row = await findToken(deps.db, idOrName);
  if (row === undefined) throw tokenNotFound(idOrName);
  return viewOfToken(row, deps.clock());
}

/** A page of the tokens that are not revoked, by name, and whether there are more. */
export async function pageOfTokens(
  deps: ReadDependencies,
  after: string,
  limit: number,
): Promise<{ tokens: TokenView[]; more: boolean }> {
  const rows = await listTokens(deps.db, after, limit + 1);
  const now = deps.clock();
  return { tokens: rows.slice(0, limit).map((row) => viewOfToken(row, now)), more: rows.length > limit };
}

export function tokenNotFound(idOrName: string) {
  return musterError('token_not_found', `Token ${idOrName} could not be found`);
}
