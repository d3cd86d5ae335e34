import type { Component } from '../../domain/components/schema.ts';
import { pageComponents } from '../../store/components.ts';
import type { Db } from '../../store/database.ts';

/** Components read at once. */
const BATCH = 500;

/** The components of sorted ids as they are now, in batches; those that are gone are left out. */
export async function* readComponentsById(db: Db, ids: readonly string[]): AsyncGenerator<Component[], void> {
  for (let start = 0; start < ids.length; start += BATCH) {
    const chunk = ids.slice(start, start + BATCH);
    yield await pageComponents(db, { ids: chunk }, '', chunk.length);
  }
}
