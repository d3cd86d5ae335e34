import { readStreamState, type SessionStreamState } from '../../../store/sessions/session-reads.ts';
import type { LiveSource } from '../../server/streaming/live-stream.ts';
import type { SessionApi } from './dependencies.ts';

/** The live stream of a session. */
export function sessionStream(
  db: SessionApi['db'],
  { id, name }: { id: string; name: string },
): LiveSource<SessionStreamState> {
  return {
    id,
    read: () => readStreamState(db, id),
    gone: { name, id, status: 'complete', succeeded: 'none', message: '', reason: null, deleted: true },
  };
}
