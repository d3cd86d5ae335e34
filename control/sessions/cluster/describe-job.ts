import type { SessionJob } from '../../../domain/sessions/detail-schema.ts';
import type { ShownJobRow } from '../../../store/sessions/session-reads.ts';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The Job of a session as the API shows it. */
export function sessionJob(row: ShownJobRow): SessionJob {
  return {
    name: row.name,
    profile: row.profile,
    exit_codes: row.exit_codes ?? {},
    trouble: row.end_code === null ? null : { code: row.end_code, message: row.end_message ?? '' },
    unverified: row.unverified,
    // A Job that was given up while it waited waits no more.
    waiting_since: row.ended_at === null ? iso(row.waiting_since) : null,
    created_at: row.created_at.toISOString(),
    ended_at: iso(row.ended_at),
  };
}
