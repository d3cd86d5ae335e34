import type { ConfigurationStatus } from '../../domain/components/schema.ts';
import { FLEET_CONFIGURATIONS, type Fleet } from '../../domain/fleet/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { countStandings, type FleetCounts } from '../../store/fleet/counts.ts';
import { readBatcher } from '../batches/read-batches.ts';
import { stopState } from './stop-everything.ts';

interface FleetDependencies {
  db: Db;
  clock(): Date;
}

/** What is kept for a while, for all who ask. */
interface FleetReads {
  counts(): Promise<Counts>;
  /** How much needs a person. */
  countAttention(): Promise<number>;
}

/** Counts of all components, and when they were. */
interface Counts extends FleetCounts {
  total: number;
  asOf: string;
}

/** Counts all components, as they are now. */
export async function countAll({ db, clock }: FleetDependencies): Promise<Counts> {
  const asOf = clock().toISOString();
  const counts = await countStandings(db, FLEET_CONFIGURATIONS);
  return { ...counts, total: counts.statuses.reduce((sum, { count }) => sum + count, 0), asOf };
}

/** Returns the fleet in numbers: the batcher and the stop as they are now, and components as they were counted. */
export async function countFleet({
  db,
  clock,
  counts,
  countAttention,
}: FleetDependencies & FleetReads): Promise<Fleet> {
  const [{ statuses, configurations, total, asOf }, batcher, stop, attention] = await Promise.all([
    counts(),
    readBatcher({ db, clock }),
    stopState(db),
    // The counts are worth more than this one.
    countAttention().catch(() => null),
  ]);
  const sum = (matches: (one: (typeof statuses)[number]) => boolean) =>
    statuses.filter(matches).reduce((found, { count }) => found + count, 0);
  const of = (status: ConfigurationStatus) => sum((one) => one.status === status);
  return {
    total,
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
