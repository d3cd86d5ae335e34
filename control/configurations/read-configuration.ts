import type { Configuration, InUseListQuery } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { findConfiguration, pageConfigurations, type StoredConfiguration } from '../../store/configurations.ts';
import type { Db } from '../../store/database.ts';
import { readOptions } from '../../store/options.ts';
import { onePage, type Page } from './pages.ts';

/** The configuration, or `configuration_not_found`. */
export async function getConfiguration(db: Db, name: string): Promise<StoredConfiguration> {
  const found = await findConfiguration(db, name);
  if (found === undefined) throw musterError('configuration_not_found', `Configuration ${name} could not be found`);
  return found;
}

/** One page of configurations in the order of their names (cfs-api 3, 11). */
export async function listConfigurations(db: Db, query: InUseListQuery): Promise<Page<Configuration>> {
  const limit = query.limit ?? (await readOptions(db)).default_page_size;
  const page = { inUse: query.in_use, afterName: query.after_id ?? '' };
  return onePage(limit, (rows) => pageConfigurations(db, { ...page, limit: rows }));
}
