import type { SessionsCancelled } from '../../../domain/sessions/schema.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { tagFilter } from '../../input/pairs.ts';
import { apiOf, perform, type WaitOptions, type WriteOptions } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';

export interface CancelOptions extends WriteOptions, WaitOptions {
  reason?: string;
  status?: 'pending' | 'running';
  tag?: Record<string, string>;
}

/** Cancels all sessions that match with one request; those that wait for their turn end at once. */
export async function cancelMany(context: CliContext, names: string[], options: CancelOptions): Promise<void> {
  const { reason, status, tag } = options;
  if (names.length === 0 && status === undefined && tag === undefined) {
    throw usage('no session was named', 'name sessions, or give --status or --tag');
  }
  if (options.wait) throw usage('--wait follows one session', 'name one session, or leave --wait out');
  const body = {
    ...(names.length > 0 ? { names } : {}),
    ...(status === undefined ? {} : { status: [status] }),
    ...(tag === undefined ? {} : { tags: tagFilter(tag) }),
    ...(reason === undefined ? {} : { reason }),
  };
  const request = { method: 'POST', path: '/api/v1/sessions/cancel', body } as const;
  const answer = await perform<SessionsCancelled>(context, apiOf(context, options), request, options);
  if (answer === undefined) return;
  const { cancelled, ended, complete, missing } = answer;
  const waited = ended > 0 ? `; ${ended} of them waited and have ended` : '';
  say(context, `${counted(cancelled, 'session')} cancelled${waited}`);
  if (complete.length > 0) say(context, `complete already: ${someOf(complete)}`);
  if (missing.length > 0) {
    throw new CliFailure('session_not_found', `there is no session ${someOf(missing, ', no session ')}`, EXIT.notFound);
  }
}
