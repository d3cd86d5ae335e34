/** What the server says of itself, as checks. */
import type { Check, SystemAnswer } from './client-checks.ts';

/** Parts of the status that are well or not, and what to do where one is not. */
const PARTS = [
  ['database', 'database', 'look at Postgres and at MUSTER_DATABASE_URL of the server'],
  ['engine', 'engine', 'look at Temporal and at MUSTER_TEMPORAL_ADDRESS of the server'],
  ['setup', 'set-up', 'look at the log of the server'],
  ['workers', 'workers', 'start a worker, and look at its log'],
  ['hardware_sync', 'hardware sync', 'look at the service that the server asks for hardware'],
] as const;

/** Checks of the server, as it says them itself; of an older one, those of its parts. */
export function serverChecks(status: SystemAnswer): Check[] {
  if (status.checks !== undefined) return status.checks;
  const checks = PARTS.flatMap(([member, name, fix]): Check[] => {
    const part = status[member];
    if (part === undefined || part === null) return [];
    return [{ name, ok: part.ok, detail: part.reason ?? 'ok', fix: part.ok ? null : fix }];
  });
  const { batcher, stop } = status;
  if (batcher) {
    const ok = batcher.state !== 'late';
    const detail = batcher.held_reason === null ? batcher.state : `${batcher.state}; held: ${batcher.held_reason}`;
    checks.push({ name: 'batcher', ok, detail, fix: ok ? null : 'look at the worker: no pass came when one was due' });
  }
  if (stop?.stopped) {
    const detail = `everything is stopped since ${stop.since}: ${stop.reason}`;
    checks.push({ name: 'stop', ok: false, detail, fix: '`./muster go` lets it go on' });
  }
  for (const notice of status.notices ?? []) checks.push({ name: 'notice', ok: true, detail: notice, fix: null });
  return checks;
}
