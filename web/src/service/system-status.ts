/** How Muster itself is, as `GET /status` says it. */
import type { Batcher } from '../../../domain/batches/batch-schema.ts';
import type { HardwareSyncView } from '../../../domain/components/hardware-sync-schema.ts';
import type { StopState } from '../../../domain/fleet/stop-schema.ts';

interface PartStatus {
  ok: boolean;
  reason: string | null;
}

/** What of it the page shows. */
export interface SystemStatus {
  versions: { muster: string; cfs: string };
  database: PartStatus;
  engine: PartStatus;
  setup: PartStatus;
  workers: (PartStatus & { count: number }) | null;
  counts: {
    sessions: { pending: number; running: number; complete: number };
    queue: number;
    active_runs: number;
  } | null;
  plans: { running: number; paused: number } | null;
  operators: { live: number; reconciles_open: number; due: number } | null;
  batcher: Pick<Batcher, 'state' | 'open' | 'sent'> | null;
  stop: StopState | null;
  hardware_sync: Pick<HardwareSyncView, 'ok' | 'reason' | 'nodes'> | null;
  notices: string[];
  links: { docs: string; temporal_ui: string | null };
}

export interface SystemCheck {
  name: string;
  ok: boolean;
  detail: string;
}

/** Returns what is looked at, in the order in which one part needs the next. */
export function checksOf(status: SystemStatus): SystemCheck[] {
  const { database, engine, setup, workers, counts, plans, operators, batcher, stop, hardware_sync: sync } = status;
  const part = (name: string, { ok, reason }: PartStatus, detail = ''): SystemCheck => ({
    ...{ name, ok },
    detail: [reason, detail].filter((text) => text !== null && text !== '').join('; '),
  });
  const unknown: PartStatus = { ok: false, reason: 'not known' };
  return [
    part('Database', database),
    part('Temporal', engine),
    part('Setup', setup),
    part('Workers', workers ?? unknown, workers === null ? '' : `${workers.count} take up work`),
    part(
      'Sessions',
      counts === null ? unknown : { ok: true, reason: null },
      counts === null
        ? ''
        : `${counts.sessions.running} run, ${counts.queue} wait for a slot, ${counts.active_runs} playbooks at work`,
    ),
    part(
      'Batcher',
      batcher === null ? unknown : { ok: batcher.state !== 'late', reason: batcher.state },
      batcher === null ? '' : `${batcher.open} batches open, ${batcher.sent} sent`,
    ),
    part(
      'Plans',
      plans === null ? unknown : { ok: true, reason: null },
      plans === null ? '' : `${plans.running} run, ${plans.paused} paused`,
    ),
    part(
      'Operators',
      operators === null ? unknown : { ok: true, reason: null },
      operators === null
        ? ''
        : `${operators.live} live, ${operators.reconciles_open} reconciles open, ${operators.due} due`,
    ),
    ...(sync === null ? [] : [part('Hardware sync', sync, `${sync.nodes} nodes`)]),
    part(
      'Stop',
      stop === null
        ? unknown
        : { ok: !stop.stopped, reason: stop.stopped ? `everything is stopped: ${stop.reason}` : null },
      stop?.stopped === false ? 'nothing is stopped' : '',
    ),
  ];
}

/** Returns an address of the web as it is; null for another one, which is no link. */
export function webLink(address: string): string | null {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'http:' || protocol === 'https:' ? href : null;
  } catch {
    return null;
  }
}
