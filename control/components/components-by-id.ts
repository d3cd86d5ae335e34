import type { ComponentView } from '../../domain/components/schema.ts';
import { componentView } from '../../domain/components/view.ts';
import { pageComponents } from '../../store/components/components.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { createStatusReader } from './desired-layers.ts';

/** Components read at once. */
const BATCH = 500;

/** The components of sorted ids as they are now, with their states and statuses, in batches; those that are gone are left out. */
export async function* viewComponentsById(
  { db }: { db: Db },
  ids: readonly string[],
): AsyncGenerator<ComponentView[], void> {
  const reader = createStatusReader(db, await readOptions(db));
  for (let start = 0; start < ids.length; start += BATCH) {
    const chunk = ids.slice(start, start + BATCH);
    const components = await pageComponents(db, { ids: chunk }, '', chunk.length);
    await reader.prepare(components);
    yield components.map((component) =>
      componentView(component, reader.of(component), { state: true, desiredState: undefined, logs: undefined }),
    );
  }
}
