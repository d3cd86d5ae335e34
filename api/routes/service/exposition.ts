import { Gauge, Registry } from 'prom-client';
import { countOperatorWork } from '../../../control/operator/read-operators.ts';
import { readDisk } from '../../../control/service/read-disk.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import { readTallies } from '../../../store/connection/tallies.ts';
import { countDeployments } from '../../../store/deployments/gauges.ts';
import { readGauges } from '../../../store/fleet/gauges.ts';
import { countPlans } from '../../../store/propagation/plan-notices.ts';
import { databaseMetrics, durationsText } from './database-metrics.ts';
import type { ServiceApi } from './dependencies.ts';
import { type CountRequest, processMetrics } from './process-metrics.ts';

type ExpositionParts = Pick<
  ServiceApi,
  'db' | 'clock' | 'deployments' | 'engineHealth' | 'readWorkers' | 'readQueues' | 'dataDir'
>;

export interface Exposition {
  countRequest: CountRequest;
  /** Media type and text of all metrics, as they are now. */
  read(): Promise<{ type: string; text: string }>;
}

/** All metrics of an API process. Without a database those of the process are told, and that there is none. */
export function createExposition(deps: ExpositionParts): Exposition {
  const ofProcess = new Registry();
  const ofDatabase = new Registry();
  const countRequest = processMetrics(ofProcess);
  const up = new Gauge({
    name: 'muster_database_up',
    help: '1 when the database answered this request',
    registers: [ofProcess],
  });
  const aroundHere = surroundings(ofProcess, deps);
  const take = databaseMetrics(ofDatabase);
  return {
    countRequest,
    read: async () => {
      const [stored] = await Promise.all([readStored(deps), aroundHere()]);
      up.set(Number(stored !== null));
      const own = await ofProcess.metrics();
      if (stored === null) return { type: ofProcess.contentType, text: own };
      take(stored.gauges, stored.tallies);
      const text = [own, await ofDatabase.metrics(), durationsText(stored.tallies)].join('\n');
      return { type: ofProcess.contentType, text };
    },
  };
}

/** Adds what stands beside the database; answers what looks at it. The engine says within some 3 s whether it is there. */
function surroundings(registry: Registry, deps: ExpositionParts): () => Promise<void> {
  const registers = [registry];
  const engine = new Gauge({ name: 'muster_engine_up', help: '1 when Temporal answered this request', registers });
  const workers = new Gauge({
    name: 'muster_workers',
    help: 'Workers that take up work; absent while Temporal does not say',
    registers,
  });
  const waiting = new Gauge({
    name: 'muster_task_queue_length',
    help: 'Tasks that wait for a worker, by the queue of Temporal; absent while Temporal does not say',
    labelNames: ['queue'],
    registers,
  });
  const oldest = new Gauge({
    name: 'muster_task_queue_oldest_seconds',
    help: 'How long the first of these tasks waits',
    labelNames: ['queue'],
    registers,
  });
  const disk = new Gauge({
    name: 'muster_disk_free_bytes',
    help: 'Free disk of the data directory of this process',
    registers,
  });
  return async () => {
    const [health, atWork, queues, free] = await Promise.all([
      deps.engineHealth(),
      deps.readWorkers().catch(() => null),
      deps.readQueues().catch(() => []),
      readDisk(deps.dataDir),
    ]);
    engine.set(Number(health.ok));
    setOrRemove(workers, health.ok ? atWork?.count : undefined);
    for (const gauge of [waiting, oldest]) gauge.reset();
    for (const { name, depth, oldestSeconds } of health.ok ? queues : []) {
      waiting.set({ queue: name }, depth);
      oldest.set({ queue: name }, oldestSeconds);
    }
    setOrRemove(disk, free?.free);
  };
}

function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** What the database says, or null when it is away. */
async function readStored({ db, clock, deployments }: Pick<ExpositionParts, 'db' | 'clock' | 'deployments'>) {
  try {
    const gauges = {
      ...(await readGauges(db, clock())),
      plans: await countPlans(db),
      operator: await countOperatorWork({ db, clock }),
      deployments: await countDeployments(db, clock(), deployments.staleAfterMs),
    };
    return { gauges, tallies: await readTallies(db) };
  } catch (error) {
    if (isConnectionError(error)) return null;
    throw error;
  }
}
