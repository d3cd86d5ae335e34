/** What of Muster itself is well, in words, and what mends what is not. */
import { bytesText } from '../text/bytes-text.ts';
import type { System, SystemCheck, SystemDisk } from './system-schema.ts';

const GIB = 1024 ** 3;
/** Less than this share and less than this many bytes: a small disk need not have much, a large one little of it. */
const [LOW_SHARE, LOW_BYTES] = [1 / 20, 10 * GIB];

/** Limits of what is late, s: the same as those of the alerts that are shipped. */
const LATE = { event_lag_seconds: 30, outbox_oldest_seconds: 60, queue: 300 } as const;
/** Share of the connections of the database from which on others may find none. */
const CONNECTIONS = 0.9;

/** Returns the disk as it is shown. */
export function diskOf(path: string, free: number, size: number): SystemDisk {
  return { path, free, size, low: free < size * LOW_SHARE && free < LOW_BYTES };
}

type Part = { ok: boolean; reason: string | null } | null;
type Checked = Omit<System, 'checks'>;

/** Returns what was looked at, in the order in which one part needs the next. */
export function systemChecks(system: Checked): SystemCheck[] {
  const { database, engine, setup, workers, hardware_sync: sync, stop, disk, notices } = system;
  return [
    check('database', database, databaseDetail(system), 'look at Postgres and at MUSTER_DATABASE_URL of the server'),
    ...connectionChecks(database),
    check('engine', engine, '', 'look at Temporal and at MUSTER_TEMPORAL_ADDRESS of the server'),
    check('set-up', setup, '', 'look at the log of the server'),
    check(
      'workers',
      workers,
      workers?.ok === true ? `${workers.count} take up work` : '',
      'start a worker, and look at its log',
    ),
    ...lateChecks(system),
    ...workChecks(system),
    ...(sync === null
      ? []
      : [check('hardware sync', sync, '', 'look at the service that the server asks for hardware')]),
    ...(disk === null
      ? []
      : [
          check(
            'disk',
            { ok: !disk.low, reason: null },
            `${bytesText(disk.free)} of ${bytesText(disk.size)} are free at ${disk.path}`,
            `make room at ${disk.path}`,
          ),
        ]),
    check(
      'stop',
      stop && { ok: !stop.stopped, reason: null },
      stop?.stopped === true ? `everything is stopped since ${stop.since}: ${stop.reason}` : 'nothing is stopped',
      '`./muster go` lets it go on',
    ),
    ...notices.map((notice) => ({ name: 'notice', ok: true, detail: notice, fix: null })),
  ];
}

function check(name: string, part: Part, detail: string, fix: string): SystemCheck {
  if (part === null) return { name, ok: false, detail: 'not known', fix: 'look at the parts above' };
  const text = [part.reason, detail].filter((word) => word !== null && word !== '').join('; ');
  return { name, ok: part.ok, detail: text === '' ? 'ok' : text, fix: part.ok ? null : fix };
}

function databaseDetail({ database: { size, schema } }: Checked): string {
  return size === null ? '' : `${bytesText(size)}, schema ${schema}`;
}

function connectionChecks({ connections, max_connections: max }: Checked['database']): SystemCheck[] {
  if (connections === null || max === null) return [];
  const isOk = connections < max * CONNECTIONS;
  const detail = `${connections} of ${max} connections`;
  return [check('connections', { ok: isOk, reason: null }, detail, 'raise max_connections of Postgres')];
}

/** What waits longer than it should. */
function lateChecks({ gauges, queues }: Checked): SystemCheck[] {
  const lag = gauges?.event_lag_seconds ?? null;
  const outbox = gauges?.outbox_oldest_seconds ?? null;
  const of = (name: string, seconds: number | null, most: number, detail: string, fix: string) =>
    seconds === null ? [] : [check(name, { ok: seconds < most, reason: null }, detail, fix)];
  return [
    ...of(
      ...(['events', lag, LATE.event_lag_seconds] as const),
      `the newest event of a run was stored ${Math.round(lag ?? 0)} s late`,
      'look at the load of workers and Postgres',
    ),
    ...of(
      ...(['outbox', outbox, LATE.outbox_oldest_seconds] as const),
      `${gauges?.outbox_length ?? 0} starts and cancels wait for Temporal, the first for ${Math.round(outbox ?? 0)} s`,
      'look at Temporal',
    ),
    ...queues
      .filter(({ pollers }) => pollers !== null)
      .map(({ name, depth, oldest_seconds: oldest }) =>
        check(
          `queue ${name}`,
          { ok: oldest < LATE.queue, reason: null },
          `${depth} tasks wait${depth > 0 ? `, the first for ${Math.round(oldest)} s` : ''}`,
          'start more workers',
        ),
      ),
  ];
}

/** What there is to do. */
function workChecks({ counts, batcher, plans, operators }: Checked): SystemCheck[] {
  const fine = { ok: true, reason: null };
  return [
    check(
      'sessions',
      counts && fine,
      counts === null
        ? ''
        : `${counts.sessions.running} run, ${counts.queue} wait for a slot, ${counts.active_runs} playbooks at work`,
      '',
    ),
    check(
      'batcher',
      batcher && { ok: batcher.state !== 'late', reason: batcher.state },
      batcher === null
        ? ''
        : `${batcher.open} batches open, ${batcher.sent} sent${batcher.held_reason === null ? '' : `; held: ${batcher.held_reason}`}`,
      'look at the worker: no pass came when one was due',
    ),
    check('plans', plans && fine, plans === null ? '' : `${plans.running} run, ${plans.paused} paused`, ''),
    check(
      'operators',
      operators && fine,
      operators === null
        ? ''
        : `${operators.live} live, ${operators.reconciles_open} reconciles open, ${operators.due} due`,
      '',
    ),
  ];
}
