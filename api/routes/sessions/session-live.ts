import { readStreamState, type SessionStreamState } from '../../../store/sessions/session-reads.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { LiveSource } from '../../server/streaming/live-stream.ts';

/** The live stream of a session. */
export function sessionStream(
  db: ApiDependencies['db'],
  { id, name }: { id: string; name: string },
): LiveSource<SessionStreamState> {
  return {
    id,
    read: () => readStreamState(db, id),
    gone: { name, id, status: 'complete', succeeded: 'none', message: '', reason: null, deleted: true },
  };
}
