import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';

/** Returns the word of a session's status; a session that ended without success has failed. */
export function statusWord({
  status: {
    session: { status, succeeded },
  },
}: Pick<SessionItem, 'status'>): 'pending' | 'running' | 'complete' | 'failed' {
  return status === 'complete' && succeeded === 'false' ? 'failed' : status;
}
