import type { InUseListQuery, Source } from '../../domain/configurations/schema.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { findSource, pageSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { onePage, type Page } from '../changes/pages.ts';

export function sourceNotFound(name: string): MusterError {
  return musterError('source_not_found', `Source ${name} could not be found`);
}

/** The source, or `source_not_found`. */
export async function getSource(db: Db, name: string): Promise<Source> {
  const source = await findSource(db, name);
  if (source === undefined) throw sourceNotFound(name);
  return source;
}

/** One page of sources in the order of their names (cfs-api 3, 12). */
export async function listSources(db: Db, query: InUseListQuery): Promise<Page<Source>> {
  const limit = query.limit ?? (await readOptions(db)).default_page_size;
  const page = { inUse: query.in_use, afterName: query.after_id ?? '' };
  return onePage(limit, (rows) => pageSources(db, { ...page, limit: rows }));
}
