import type { SessionDetail } from './detail-schema.ts';
import type { Succeeded } from './schema.ts';
import type { SessionReason } from './session-reason.ts';

/** What the engine is told of a session that is over, in words of its record; hosts as counts. */
export interface SessionResult {
  succeeded: Succeeded;
  message: string;
  /** Null where nobody counted: the record is gone. */
  hosts: SessionDetail['hosts'] | null;
}

/** The end of a session as its record has it. */
export interface RecordedEnd extends SessionResult {
  reason: SessionReason | null;
}

/** Type of the failure with which the workflow of a session that failed ends. */
export const SESSION_FAILED = 'session_failed';
