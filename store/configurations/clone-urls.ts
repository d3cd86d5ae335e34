import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** A clone address that stands in a record itself, and the record. */
export interface NamedCloneUrl {
  kind: 'configuration' | 'option';
  name: string;
  url: string;
}

/** Every clone address that a configuration or an option has without a source. */
export async function listCloneUrls(db: Db): Promise<NamedCloneUrl[]> {
  const { rows } = await sql<NamedCloneUrl>`
    select distinct 'configuration' as kind, name, layer ->> 'clone_url' as url
      from configurations, jsonb_array_elements(record -> 'layers' || coalesce(record -> 'additional_inventory', '[]')) as layer
      where layer ->> 'clone_url' <> ''
    union all
    select 'option', 'additional_inventory_url', record ->> 'additional_inventory_url'
      from options where record ->> 'additional_inventory_url' <> ''
    order by 1, 2, 3`.execute(db);
  return rows;
}
