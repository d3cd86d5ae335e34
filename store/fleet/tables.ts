/** The table of lane fleet, as Kysely sees it. */
import type { ColumnType, Generated } from 'kysely';
import type { OptionalTime } from '../connection/column-types.ts';

export interface FleetStopTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  stopped_at: OptionalTime;
  stopped_by: string | null;
  reason: string | null;
  /** When anything was paused since it last went on: what is paused carries one of these moments. */
  moments: ColumnType<Date[], Date[] | undefined, Date[]>;
  complete: Generated<boolean>;
}

export interface FleetTables {
  fleet_stop: FleetStopTable;
}
