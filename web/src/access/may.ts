import type { Me } from '../../../domain/access/schema.ts';
import type { ConnectionState } from '../shared/live/protocol.ts';

/** Returns why a user may not act now; null: nothing is in the way. Every role but reader and node may run sessions. */
export function actingRefusal(me: Pick<Me, 'role'> | undefined, state: ConnectionState): string | null {
  if (me === undefined) return 'Muster does not say yet who you are';
  if (me.role === 'reader' || me.role === 'node') return `Your role ${me.role} may not do this: it needs operator`;
  return state === 'stale' ? 'What you see is old: wait until the page is live again' : null;
}

/** Returns why a user may not read a page that needs an operator; null when the page may be read. */
export function readingRefusal(me: Pick<Me, 'role'> | undefined): string | null {
  if (me === undefined) return 'Muster does not say yet who you are';
  return me.role === 'reader' || me.role === 'node'
    ? `Your role ${me.role} may not read this: it needs operator`
    : null;
}
