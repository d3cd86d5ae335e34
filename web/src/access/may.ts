import type { Me } from '../../../domain/access/schema.ts';
import type { ConnectionState } from '../shared/live/protocol.ts';

/** Weakest role that may do something. */
export type LeastRole = 'operator' | 'admin';

/** Returns why a user may not act now; null: nothing is in the way. */
export function actingRefusal(
  me: Pick<Me, 'role'> | undefined,
  state: ConnectionState,
  least: LeastRole = 'operator',
): string | null {
  if (me === undefined) return 'Muster does not say yet who you are';
  if (!isEnough(me, least)) return `Your role ${me.role} may not do this: it needs ${least}`;
  return state === 'stale' ? 'What you see is old: wait until the page is live again' : null;
}

/** Returns why a user may not read a page; null when the page may be read. */
export function readingRefusal(me: Pick<Me, 'role'> | undefined, least: LeastRole = 'operator'): string | null {
  if (me === undefined) return 'Muster does not say yet who you are';
  return isEnough(me, least) ? null : `Your role ${me.role} may not read this: it needs ${least}`;
}

function isEnough({ role }: Pick<Me, 'role'>, least: LeastRole): boolean {
  return role === 'admin' || (role === 'operator' && least === 'operator');
}
