import type { ConfigurationStatus } from '../../domain/components/schema.ts';
import { type ConfigurationUsage, LISTED_USERS } from '../../domain/configurations/history-schema.ts';
import { findConfiguration } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { findOpenSessionsOf, findSchedulesOf } from '../../store/fleet/counts.ts';
import { countComponents } from '../../store/fleet/gauges.ts';

/** Returns what uses a configuration, also one that is gone: components may still desire its name. */
export async function configurationUsage(db: Db, name: string): Promise<ConfigurationUsage> {
  const [stored, counted, schedules, sessions] = await Promise.all([
    findConfiguration(db, name),
    countComponents(db, name),
    findSchedulesOf(db, name, LISTED_USERS),
    findOpenSessionsOf(db, name, LISTED_USERS),
  ]);
  const sum = (matches: (one: (typeof counted)[number]) => boolean) =>
    counted.filter(matches).reduce((total, { count }) => total + Number(count), 0);
  const of = (status: ConfigurationStatus) => sum((one) => one.status === status);
  return {
    exists: stored !== undefined,
    components: {
      total: sum(() => true),
      disabled: sum(({ enabled }) => !enabled),
      by_status: {
        configured: of('configured'),
        pending: of('pending'),
        failed: of('failed'),
        unconfigured: of('unconfigured'),
      },
    },
    schedules,
    sessions,
  };
}
