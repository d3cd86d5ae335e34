/** From the claims of an issuer's token to a caller. */
import type { Caller, Role } from './roles.ts';
import { ROLES } from './roles.ts';

export interface ClaimRules {
  /** Claim with the roles: its name, or the way to it by dots (`realm_access.roles`). */
  rolesClaim: string;
  /** Role of each word of that claim; undefined: the words are names of roles. */
  roleMap: Record<string, Role> | undefined;
  /** Claim with the id of the component, for the role node. */
  componentClaim: string;
}

type Claims = Record<string, unknown>;

/** Longest name of a user that is stored. */
const MAX_NAME = 200;

/** The strongest role that the claims give; null when they give none. */
export function roleOfClaims(claims: Claims, { rolesClaim, roleMap }: ClaimRules): Role | null {
  const given = wordsOf(claimAt(claims, rolesClaim)).map((word) => (roleMap ? own(roleMap, word) : word));
  return ROLES.find((role) => given.includes(role)) ?? null;
}

/**
 * Who speaks by these claims, or the sentence why nobody does. The name is `preferred_username` where it is one that can be
 * shown, else `sub`.
 */
export function callerOfClaims(claims: Claims, rules: ClaimRules): Caller | { refused: string } {
  const name = [claims.preferred_username, claims.sub].find(isShowable);
  if (name === undefined) return { refused: 'The token names no user: it has neither preferred_username nor sub' };
  const role = roleOfClaims(claims, rules);
  if (role === null) {
    return {
      refused: `The token gives no role of Muster: its claim '${rules.rolesClaim}' has none of the known words`,
    };
  }
  const actor = `oidc/${name}`;
  if (role !== 'node') return { actor, role, component: null };
  const component = claimAt(claims, rules.componentClaim);
  if (typeof component !== 'string' || component === '') {
    return { refused: `The role node needs the id of a component in the claim '${rules.componentClaim}'` };
  }
  return { actor, role, component };
}

/** A claim by its name; where there is none of that name, by the way of dots. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, part) => (isObject(value) ? own(value, part) : undefined), claims);
}

/** A list of words, or words in one text with blanks between them, as `scope` has. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/);
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
}

function isShowable(name: unknown): name is string {
  return typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME && !/[\p{C}/]/u.test(name);
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null;
}

function own<Value>(record: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
