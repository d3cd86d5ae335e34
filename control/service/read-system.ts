import { hostname } from 'node:os';
import type { Status } from '../../domain/service/status-schema.ts';
import { systemChecks } from '../../domain/service/system-checks.ts';
import type { System, SystemProcess, SystemQueue } from '../../domain/service/system-schema.ts';
import { type EngineQueue, freshPollers } from '../../domain/sessions/workers-at-work.ts';
import { type Db, isConnectionError } from '../../store/connection/database.ts';
import { readDatabaseFacts } from '../../store/connection/service.ts';
import { type Counts, readCounts } from '../../store/fleet/gauges.ts';
import { listOperators, type ReadOperator } from '../../store/operator/reads.ts';
import { readDisk } from './read-disk.ts';

interface SystemDependencies {
  db: Db;
  clock(): Date;
  /** Of this process. */
  version: string;
  dataDir: string;
  /** How the queues of the workers are; rejects when the engine does not say. */
  readQueues(): Promise<EngineQueue[]>;
}

/** Returns the status with what is behind it, and what is well and not. The page and `muster doctor` show this. */
export async function readSystem(deps: SystemDependencies, status: Status): Promise<System> {
  const isKnown = status.database.ok && status.setup.ok;
  const [queues, disk, stored] = await Promise.all([
    status.engine.ok ? deps.readQueues().catch(() => []) : [],
    readDisk(deps.dataDir),
    isKnown ? readStored(deps) : null,
  ]);
  const facts = stored?.facts ?? { size: null, connections: null, max_connections: null, schema: null };
  const system = {
    ...status,
    database: { ...status.database, ...facts },
    processes: [
      ownProcess(deps),
      ...workersOf(queues, deps.clock()),
      ...(stored?.operators ?? []).flatMap(operatorProcesses),
    ],
    queues: [...queues.map(engineQueue), ...(stored === null ? [] : storedQueues(stored.counts))],
    gauges: stored === null ? null : gaugesOf(stored.counts),
    disk,
  };
  return { ...system, checks: systemChecks(system) };
}

async function readStored({ db, clock }: SystemDependencies) {
  try {
    const [facts, counts, operators] = await Promise.all([
      readDatabaseFacts(db),
      readCounts(db, clock()),
      listOperators(db, clock()),
    ]);
    return { facts, counts, operators };
  } catch (error) {
    if (isConnectionError(error)) return null;
    throw error;
  }
}

function ownProcess({ clock, version }: SystemDependencies): SystemProcess {
  const now = clock();
  const since = new Date(now.getTime() - process.uptime() * 1_000);
  return { kind: 'api', version, host: hostname(), since: since.toISOString(), seen_at: now.toISOString() };
}

function workersOf(queues: readonly EngineQueue[], now: Date): SystemProcess[] {
  const pollers = queues.flatMap(({ pollers }) => freshPollers(pollers, now));
  // A worker asks for work of several queues.
  const each = [...new Map(pollers.toReversed().map((poller) => [poller.identity, poller])).values()].toReversed();
  return each.map(({ identity, askedAt }) => ({
    ...{ kind: 'worker', version: null, host: identity, since: null },
    seen_at: askedAt.toISOString(),
  }));
}

function operatorProcesses({ name, hosts }: ReadOperator): SystemProcess[] {
  return hosts.map(({ machine, version, seenAt }) => ({
    ...{ kind: `operator ${name}`, version, host: machine, since: null },
    seen_at: seenAt.toISOString(),
  }));
}

const engineQueue = ({ name, depth, oldestSeconds, pollers }: EngineQueue): SystemQueue => ({
  ...{ name, depth },
  oldest_seconds: oldestSeconds,
  pollers: pollers.length,
});

function storedQueues(counts: Counts): SystemQueue[] {
  const sum = (record: Record<string, number>) => Object.values(record).reduce((total, count) => total + count, 0);
  return [
    { name: 'sessions', depth: counts.queued, oldest_seconds: counts.queuedSeconds, pollers: null },
    { name: 'outbox', depth: counts.undelivered, oldest_seconds: counts.undeliveredSeconds, pollers: null },
    {
      ...{ name: 'webhooks', depth: sum(counts.notifications) },
      ...{ oldest_seconds: counts.oldestNotification, pollers: null },
    },
  ];
}

const gaugesOf = (counts: Counts): Record<string, number | null> => ({
  queue_length: counts.queued,
  queue_oldest_seconds: counts.queuedSeconds,
  sessions_admitted: counts.admitted,
  runs_active: counts.activeRuns,
  event_lag_seconds: counts.eventLag,
  run_silent_seconds: counts.silentRun,
  outbox_length: counts.undelivered,
  outbox_oldest_seconds: counts.undeliveredSeconds,
  batch_components: counts.batchedComponents,
  batcher_backoff_seconds: counts.backOff,
  batcher_keys_in_backoff: counts.keysInBackOff,
  batcher_keys_held: counts.heldKeys,
  drift_oldest_check_seconds: counts.oldestCheck,
});
