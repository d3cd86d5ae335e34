import type { ConfigurationStatus } from '../../domain/components/schema.ts';
import { FLEET_CONFIGURATIONS, type Fleet } from '../../domain/fleet/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { countByConfiguration } from '../../store/fleet/counts.ts';
import { countComponents } from '../../store/fleet/gauges.ts';
import { readBatcher } from '../batches/read-batches.ts';
import { stopState } from './stop-everything.ts';

interface FleetDependencies {
  db: Db;
  clock(): Date;
  /** How much needs a person. */
  countAttention(): Promise<number>;
}

/** Returns the fleet in numbers, as it is now. */
export async function countFleet({ db, clock, countAttention }: FleetDependencies): Promise<Fleet> {
  const asOf = clock().toISOString();
  const [counted, configurations, batcher, stop, attention] = await Promise.all([
    countComponents(db),
    countByConfiguration(db, FLEET_CONFIGURATIONS),
    readBatcher({ db, clock }),
    stopState(db),
    // The counts are worth more than this one.
    countAttention().catch(() => null),
  ]);
  const sum = (matches: (one: (typeof counted)[number]) => boolean) =>
    counted.filter(matches).reduce((total, { count }) => total + Number(count), 0);
  const of = (status: ConfigurationStatus) => sum((one) => one.status === status);
  return {
    total: sum(() => true),
    by_status: {
      configured: of('configured'),
      pending: of('pending'),
      failed: of('failed'),
      unconfigured: of('unconfigured'),
    },
    enabled: sum(({ enabled }) => enabled),
    disabled: sum(({ enabled }) => !enabled),
    by_configuration: configurations,
    batcher,
    stop,
    attention,
    as_of: asOf,
  };
}
