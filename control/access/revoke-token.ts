import type { TokenView } from '../../domain/access/schema.ts';
import { revokeToken as markRevoked } from '../../store/access/tokens.ts';
import type { TokenDependencies } from './create-token.ts';
import { getToken, tokenNotFound } from './read-tokens.ts';

/**
 * Makes a token, named by id or name, worthless from the next request on, in every process. Answers what it was.
 * @throws `token_not_found`, also when it was revoked before
 */
export async function revokeToken(deps: Omit<TokenDependencies, 'actor'>, idOrName: string): Promise<TokenView> {
  const token = await getToken(deps, idOrName);
  if (!(await markRevoked(deps.db, token.id, deps.clock()))) throw tokenNotFound(idOrName);
  return token;
}
