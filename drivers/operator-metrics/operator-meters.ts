/** What an operator's process counts, under the names of the reference operator and of Kubernetes' controllers. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type OperatorMeters, resultWord } from '../../domain/operator/meters.ts';
import { controllerName, type Gvk, gvkText } from '../../domain/operator/names.ts';
import { WATCH_STATES, type WatchState } from '../../domain/operator/resource-words.ts';

/** Upper bounds (s) of the buckets of reconciles. */
const SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600];

/** What is asked when the metrics are read. */
export interface MeterReads {
  /** Reconciles that this process runs now, and resources that are due, by the text of their kind; null while the database is away. */
  work(): Promise<{ active: ReadonlyMap<string, number>; due: ReadonlyMap<string, number> } | null>;
  isEngineUp(): Promise<boolean>;
  isWatching(): boolean;
  /** How many of the entries are in each state, as far as this process watches them. */
  watches(): ReadonlyMap<WatchState, number>;
}

export interface OpenMeters {
  meters: OperatorMeters;
  registry: Registry;
  /** Names what is asked when the metrics are read; until then nothing is. */
  read(reads: MeterReads): void;
}

/** Opens the metrics of an operator's process, with all series of its entries. `kinds`: those of its entries. */
export function openOperatorMeters(
  kinds: readonly Gvk[],
  { version, commit }: { version: string; commit: string },
): OpenMeters {
  const registry = new Registry();
  const registers = [registry];
  let reads: MeterReads | null = null;
  new Gauge({
    name: 'ansible_operator_build_info',
    help: 'Build information',
    labelNames: ['commit', 'version'],
    registers,
  }).set({ commit, version }, 1);
  const result = { help: 'Reconciles that have ended, by result', labelNames: ['GVK', 'result'], registers };
  const results = new Gauge({ name: 'ansible_operator_reconcile_result', ...result });
  const resultsTotal = new Counter({ name: 'ansible_operator_reconcile_result_total', ...result });
  const durations = new Histogram({
    name: 'ansible_operator_reconciles',
    help: 'Seconds from the begin of a reconcile to its end',
    labelNames: ['GVK'],
    buckets: SECONDS,
    registers,
  });
  const created = new Gauge({
    name: 'resource_created_at_seconds',
    help: 'When each watched resource was made, seconds since 1970',
    labelNames: ['name', 'namespace', 'group', 'version', 'kind'],
    registers,
  });
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles of each controller, by result',
    labelNames: ['controller', 'result'],
    registers,
  });
  const noticesLost = new Counter({
    name: 'muster_operator_events_lost_total',
    help: 'Events on resources that could not be written',
    registers,
  });
  let reading: ReturnType<MeterReads['work']> | null = null;
  /** All gauges of one request share one look at the database. */
  const readWork = (): ReturnType<MeterReads['work']> => {
    reading ??= (reads?.work() ?? Promise.resolve(null))
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const active: Gauge<'controller'> = new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Reconciles of each controller that run in this process',
    labelNames: ['controller'],
    registers,
    collect: async () => {
      const work = await readWork();
      for (const kind of kinds)
        active.set({ controller: controllerName(kind, kinds) }, work?.active.get(gvkText(kind)) ?? 0);
    },
  });
  const depth: Gauge<'name'> = new Gauge({
    name: 'workqueue_depth',
    help: 'Resources of each controller that are due and wait',
    labelNames: ['name'],
    registers,
    collect: async () => {
      const work = await readWork();
      for (const kind of kinds) depth.set({ name: controllerName(kind, kinds) }, work?.due.get(gvkText(kind)) ?? 0);
    },
  });
  const databaseUp: Gauge = new Gauge({
    name: 'muster_operator_database_up',
    help: '1 when the database answered this request',
    registers,
    collect: async () => databaseUp.set(Number((await readWork()) !== null)),
  });
  const engineUp: Gauge = new Gauge({
    name: 'muster_operator_engine_up',
    help: '1 when Temporal answered this request',
    registers,
    collect: async () => engineUp.set(Number((await reads?.isEngineUp().catch(() => false)) ?? false)),
  });
  const watching: Gauge = new Gauge({
    name: 'muster_operator_watching',
    help: '1 while this process watches the resources of the operator',
    registers,
    collect: () => watching.set(Number(reads?.isWatching() ?? false)),
  });
  const watches: Gauge<'state'> = new Gauge({
    name: 'muster_operator_watches',
    help: 'Kinds that this process is to watch, by the state of their watch',
    labelNames: ['state'],
    registers,
    collect: () => {
      const counts = reads?.watches();
      for (const state of WATCH_STATES) watches.set({ state }, counts?.get(state) ?? 0);
    },
  });
  const labels = new Map<string, { namespace: string; name: string; group: string; version: string; kind: string }>();
  /** Uid of the object that has a name. */
  const holders = new Map<string, string>();
  return {
    registry,
    read: (named) => {
      reads = named;
    },
    meters: {
      ended(kind, { outcome, seconds, requeues }) {
        const GVK = gvkText(kind);
        total.inc({ controller: controllerName(kind, kinds), result: resultWord(outcome, requeues) });
        if (outcome !== 'ok' && outcome !== 'failed') return;
        const word = outcome === 'ok' ? 'succeeded' : 'failed';
        results.inc({ GVK, result: word });
        resultsTotal.inc({ GVK, result: word });
        durations.observe({ GVK }, seconds);
      },
      seen(kind, objects) {
        const { group, version, kind: word } = kind;
        for (const { namespace, name, uid, createdAt } of objects) {
          const seconds = createdAt === null ? Number.NaN : Date.parse(createdAt) / 1_000;
          if (Number.isNaN(seconds)) continue;
          const named = { name, namespace, group, version, kind: word };
          labels.set(`${gvkText(kind)} ${uid}`, named);
          holders.set(`${gvkText(kind)} ${namespace}/${name}`, uid);
          created.set(named, seconds);
        }
      },
      gone(kind, uids) {
        for (const uid of uids) {
          const key = `${gvkText(kind)} ${uid}`;
          const named = labels.get(key);
          labels.delete(key);
          if (named === undefined) continue;
          const holder = `${gvkText(kind)} ${named.namespace}/${named.name}`;
          // An object that was made again has the same name.
          if (holders.get(holder) !== uid) continue;
          holders.delete(holder);
          created.remove(named);
        }
      },
      noticeLost: () => noticesLost.inc(),
    },
  };
}
