import { musterError } from '../errors.ts';
import type { SessionMuster } from './schema.ts';
import type { SessionReason } from './session-reason.ts';

/**
 * What is stored of a session's `muster` object: only what is set, null when nothing is. Throws `bad_request` for
 * `reconfigure` without `check`.
 */
export function musterOf(muster: SessionMuster | undefined): SessionMuster | null {
  if (muster?.reconfigure && !muster.check) {
    throw musterError('bad_request', 'Only a check can reconfigure what it finds; set muster.check too', 'muster');
  }
  const { check, reconfigure, runner } = muster ?? {};
  const stored: SessionMuster = {
    ...(check ? { check } : {}),
    ...(reconfigure ? { reconfigure } : {}),
    ...(runner === undefined ? {} : { runner }),
  };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** Ends that break a check off: what it had found by then is no order to configure anything. */
const BROKEN_OFF: ReadonlySet<SessionReason | null> = new Set([
  'cancelled',
  'session_timeout',
  'workflow_ended',
  'runner_gone',
  'runner_unavailable',
]);

/** Whether what the session found drifted is to be configured again at its end: asked for, and not broken off. */
export function reconfigures(
  session: { muster: SessionMuster | null; cancel_requested_at: Date | null; deleted_at: Date | null },
  reason: SessionReason | null,
): boolean {
  const wanted = isCheck(session) && session.muster?.reconfigure === true;
  return wanted && session.cancel_requested_at === null && session.deleted_at === null && !BROKEN_OFF.has(reason);
}

/** Whether the session only looks: its playbooks run in check and diff mode, and no component's state changes. */
export function isCheck(session: { muster: SessionMuster | null }): boolean {
  return session.muster?.check === true;
}
