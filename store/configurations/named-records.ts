/** What tables `configurations` and `sources` share: records under a name, listed by code point. */
import { type RawBuilder, sql } from 'kysely';
import type { Configuration, Source } from '../../domain/configurations/schema.ts';
import type { Db } from '../connection/database.ts';

interface Records {
  configurations: Configuration;
  sources: Source;
}

export interface NamedPage {
  /** Only what something names (true) or nothing does (false); undefined: all. */
  inUse: boolean | undefined;
  afterName: string;
  limit: number;
}

/** The existing ones of these records, by name. */
export async function findNamed<T extends keyof Records>(
  db: Db,
  table: T,
  names: readonly string[],
): Promise<Map<string, Records[T]>> {
  if (names.length === 0) return new Map();
  const { rows } = await sql<{ name: string; record: Records[T] }>`
    select name, record from ${sql.table(table)} where name = any(${names})`.execute(db);
  return new Map(rows.map((row) => [row.name, row.record]));
}

/** At most `limit` records after a name that meet every condition; `used` says of one whether something names it. */
export async function pageNamed<T extends keyof Records>(
  db: Db,
  table: T,
  page: NamedPage,
  used: RawBuilder<boolean>,
  conditions: readonly RawBuilder<boolean>[] = [],
): Promise<Records[T][]> {
  const all = [sql<boolean>`name > ${page.afterName}`, ...conditions];
  if (page.inUse !== undefined) all.push(page.inUse ? used : sql<boolean>`not ${used}`);
  const { rows } = await sql<{ record: Records[T] }>`
    select record from ${sql.table(table)} where ${sql.join(all, sql` and `)}
    order by name limit ${page.limit}`.execute(db);
  return rows.map((row) => row.record);
}
