import { useConnection } from '../shared/live/use-live.ts';
import { actingRefusal, type LeastRole } from './may.ts';
import { useMe } from './me.ts';

/** Returns why the user may not act now; null: nothing is in the way. */
export function useActingRefusal(least: LeastRole = 'operator'): string | null {
  const { data: me } = useMe();
  const { state } = useConnection();
  return actingRefusal(me, state, least);
}
