import { musterError } from '../errors.ts';
import type { SessionMuster } from './schema.ts';

/**
 * What is stored of a session's `muster` object: only what is set, null when nothing is. Throws `bad_request` for
 * `reconfigure` without `check`.
 */
export function checkModeOf(muster: SessionMuster | undefined): SessionMuster | null {
  if (muster?.check) return { check: true, ...(muster.reconfigure ? { reconfigure: true } : {}) };
  if (muster?.reconfigure) {
    throw musterError('bad_request', 'Only a check can reconfigure what it finds; set muster.check too', 'muster');
  }
  return null;
}

/** Whether the session only looks: its playbooks run in check and diff mode, and no component's state changes. */
export function isCheck(session: { muster: SessionMuster | null }): boolean {
  return session.muster?.check === true;
}
