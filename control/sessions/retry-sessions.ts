import { createHash } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import { RETRIES_AT_ONCE, type SessionsRetried, type SessionsRetry } from '../../domain/sessions/many-schema.ts';
import { uuidOf } from '../../domain/text/uuid.ts';
import { findNames, listSessionNames } from '../../store/sessions/session-queries.ts';
import { recordReason } from '../access/attribute-writes.ts';
import { wholeSessionFilter } from './list-sessions.ts';
import { type RetryDeps, retrySession } from './retry-session.ts';

/**
 * Runs many sessions again, each for itself, in the order in which they were made: what one refuses is told and the others go on. Where it breaks
 * off, the same request with its `Idempotency-Key` makes no session twice. Throws `bad_request` when a filter matches more than may be
 * retried at once, `bad_tags`, `bad_hostlist`, `hostlist_too_large`, and what is no refusal of a session.
 */
export async function retrySessions(deps: RetryDeps, by: Acting, body: SessionsRetry): Promise<SessionsRetried> {
  const { names, missing } = await chosen(deps, body);
  const answer: SessionsRetried = { retried: [], refused: [], missing };
  const request = body.hosts === undefined ? {} : { hosts: body.hosts };
  for (const name of names) {
    try {
      const { session } = await recordReason(body.reason, () => retrySession(deps, partOf(by, name), name, request));
      answer.retried.push({ name, session: session.name });
    } catch (error) {
      // What is not said of this session would meet every other one too.
      if (!isMusterError(error) || error.code === 'engine_unavailable') throw error;
      if (error.code === 'session_not_found') answer.missing.push(name);
      else answer.refused.push({ name, code: error.code, message: error.detail });
    }
  }
  return answer;
}

async function chosen({ db, clock }: RetryDeps, { names, filter }: SessionsRetry) {
  if (filter === undefined) {
    const given = [...new Set(names)];
    const known = await findNames(db, given);
    return { names: given.filter((name) => known.has(name)), missing: given.filter((name) => !known.has(name)) };
  }
  const { succeeded, ...rest } = filter;
  const wanted = await wholeSessionFilter(db, { ...rest, succeeded, status: filter.status ?? 'complete' }, clock());
  const failed = { ...wanted, unretried: true, unsuccessful: true };
  const matching = await listSessionNames(db, failed, RETRIES_AT_ONCE + 1);
  if (matching.length > RETRIES_AT_ONCE) {
    const detail = `More than ${RETRIES_AT_ONCE} sessions match; narrow the filter, so that at most ${RETRIES_AT_ONCE} do`;
    throw musterError('bad_request', detail, 'filter');
  }
  return { names: matching, missing: [] };
}

/** The part of the work under an `Idempotency-Key` that is for one session: the id of what it makes. */
function partOf(by: Acting, name: string): Acting {
  if (!by.operation) return by;
  const digest = createHash('sha256').update(`${by.operation} ${name}`).digest('hex');
  return { ...by, operation: uuidOf(digest) };
}
