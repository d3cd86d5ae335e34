/** Numbers of the installation, in words. */
import type { System } from '../../../domain/service/system-schema.ts';

/** Returns how many connections the database has, of how many. */
export function connectionsText({ connections, max_connections: most }: System['database']): string {
  if (connections === null) return 'not known';
  return most === null ? String(connections) : `${connections} of ${most}`;
}

/** Parts of one that a value is rounded to: a gauge of seconds has many digits. */
const PARTS = 10;

/** Returns the gauges by name, each with its number; '' where there is nothing to count. None while they are not known. */
export function gaugeRows(gauges: System['gauges']): [string, string][] {
  return Object.entries(gauges ?? {}).map(([name, value]) => [
    `muster_${name}`,
    value === null ? '' : String(Math.round(value * PARTS) / PARTS),
  ]);
}
