import type { Acting } from '../../domain/access/acting.ts';
import { layersOf } from '../../domain/configurations/layer-rules.ts';
import type { Configuration } from '../../domain/configurations/schema.ts';
import { ERRORS, isMusterError } from '../../domain/errors.ts';
import type { ScheduleRunResult } from '../../domain/schedules/schedule-schema.ts';
import { findConfigurations, pageConfigurations } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { atOnce } from '../changes/at-once.ts';
import type { PutConfigurationDependencies } from '../configurations/put-configuration.ts';
import { refreshConfiguration } from '../configurations/refresh-configuration.ts';

export type RefreshDependencies = Omit<PutConfigurationDependencies, 'log'>;

export type RefreshReport = NonNullable<ScheduleRunResult['configurations']>;

/** Configurations refreshed at once; each may ask eight remotes. */
const PARALLEL = 4;
const PAGE = 500;

/**
 * Resolves the branches of the named configurations anew, or of all that have a branch. One that cannot be resolved does not
 * keep the others from it: it is in the report with the reason. Throws what may pass when it is tried again (an absent
 * database); then it may be called again for all.
 */
export async function refreshConfigurations(
  deps: RefreshDependencies,
  by: Acting,
  names: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<RefreshReport> {
  const report: RefreshReport = { unchanged: 0, changed: [], failed: [] };
  const before = await commitsBefore(deps.db, names);
  await atOnce(PARALLEL, [...before], async ([name, commits]) => {
    signal.throwIfAborted();
    const outcome = await refresh(deps, by, name);
    if ('failure' in outcome) report.failed.push({ name, ...outcome.failure });
    else if (commitsOf(outcome.record) === commits) report.unchanged += 1;
    else report.changed.push(name);
  });
  report.changed.sort();
  report.failed.sort((one, other) => (one.name < other.name ? -1 : 1));
  return report;
}

type Refreshed = { record: Configuration } | { failure: { code: string; detail: string } };

async function refresh(deps: RefreshDependencies, by: Acting, name: string): Promise<Refreshed> {
  try {
    return { record: (await refreshConfiguration(deps, by, name, null)).record };
  } catch (error) {
    if (!isMusterError(error) || ERRORS[error.code].retryable) throw error;
    return { failure: { code: error.code, detail: error.detail } };
  }
}

/** What is to be refreshed, each with its commits as they are; null for one that there is not. */
async function commitsBefore(db: Db, names: readonly string[] | undefined): Promise<Map<string, string | null>> {
  if (names !== undefined) {
    const found = await findConfigurations(db, names);
    const commits = (name: string) => {
      const record = found.get(name);
      return record === undefined ? null : commitsOf(record);
    };
    return new Map(names.map((name) => [name, commits(name)]));
  }
  const all = new Map<string, string>();
  for (let afterName = ''; ; ) {
    const page = await pageConfigurations(db, { inUse: undefined, tenant: null, afterName, limit: PAGE });
    for (const record of page) {
      if (layersOf(record).some(({ layer }) => layer.branch)) all.set(record.name, commitsOf(record));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return all;
    afterName = last.name;
  }
}

const commitsOf = (record: Configuration): string =>
  JSON.stringify(layersOf(record).map(({ layer }) => layer.commit ?? null));
