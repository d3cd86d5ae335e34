import { ERRORS, type ErrorCode, isErrorCode } from '../errors.ts';
import type { SessionStatus, Succeeded } from '../sessions/schema.ts';
import type { SessionReason } from '../sessions/session-reason.ts';

/** What a session's record says about its end. */
export interface SessionEndFacts {
  status: SessionStatus;
  succeeded: Succeeded;
  /** Why it is where it is. Words of another release are possible. */
  reason: SessionReason | null;
  /** Whether somebody cancelled the session, or completed its record from outside. */
  cancelRequested: boolean;
}

/**
 * The code with which Muster ended the session for a fault that is of none of its hosts, else null: the repository, a secret, the
 * inventory, the disk, the cluster, Muster itself. An end that somebody else wrote, and one of which nobody knows how the
 * playbooks ended (`unknown`), are no faults of the controller.
 */
export function controllerFault({ status, succeeded, reason, cancelRequested }: SessionEndFacts): ErrorCode | null {
  if (status !== 'complete' || succeeded !== 'false' || cancelRequested || !isErrorCode(reason)) return null;
  return ERRORS[reason].controller ? reason : null;
}
