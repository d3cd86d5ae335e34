import { Gauge, Registry } from 'prom-client';
import { countOperatorWork } from '../../../control/operator/read-operators.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import { readTallies } from '../../../store/connection/tallies.ts';
import { readGauges } from '../../../store/fleet/gauges.ts';
import { countPlans } from '../../../store/propagation/plan-notices.ts';
import { databaseMetrics, durationsText } from './database-metrics.ts';
import type { ServiceApi } from './dependencies.ts';
import { type CountRequest, processMetrics } from './process-metrics.ts';

export interface Exposition {
  countRequest: CountRequest;
  /** Media type and text of all metrics, as they are now. */
  read(): Promise<{ type: string; text: string }>;
}

/** All metrics of an API process. Without a database those of the process are told, and that there is none. */
export function createExposition(deps: Pick<ServiceApi, 'db' | 'clock'>): Exposition {
  const ofProcess = new Registry();
  const ofDatabase = new Registry();
  const countRequest = processMetrics(ofProcess);
  const up = new Gauge({
    name: 'muster_database_up',
    help: '1 when the database answered this request',
    registers: [ofProcess],
  });
  const take = databaseMetrics(ofDatabase);
  return {
    countRequest,
    read: async () => {
      const stored = await readStored(deps);
      up.set(Number(stored !== null));
      const own = await ofProcess.metrics();
      if (stored === null) return { type: ofProcess.contentType, text: own };
      take(stored.gauges, stored.tallies);
      const text = [own, await ofDatabase.metrics(), durationsText(stored.tallies)].join('\n');
      return { type: ofProcess.contentType, text };
    },
  };
}

/** What the database says, or null when it is away. */
async function readStored({ db, clock }: Pick<ServiceApi, 'db' | 'clock'>) {
  try {
    const gauges = {
      ...(await readGauges(db, clock())),
      plans: await countPlans(db),
      operator: await countOperatorWork({ db, clock }),
    };
    return { gauges, tallies: await readTallies(db) };
  } catch (error) {
    if (isConnectionError(error)) return null;
    throw error;
  }
}
