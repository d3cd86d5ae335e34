import type { Component, ComponentFilter } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { parseTagFilter } from '../../domain/components/tags.ts';
import type { ComponentSelection } from '../../store/components.ts';
import type { Db } from '../../store/database.ts';
import { createStatusReader, type StatusReader } from './desired-layers.ts';

/** Components read at once; bounds the memory of lists and patches however many there are. */
const BATCH = 2_000;

/** A filter with its texts taken apart; empty texts filter nothing. Throws `bad_tags`. */
export function selectionOf(filter: ComponentFilter): ComponentSelection {
  return {
    ids: filter.ids ? filter.ids.split(',') : undefined,
    enabled: filter.enabled,
    desiredConfig: filter.config_name || undefined,
    tags: parseTagFilter(filter.tags ?? ''),
  };
}

export interface SelectionSteps {
  db: Db;
  options: StatusOptions;
  status: ComponentFilter['status'];
  afterId: string;
  /** Stops early when fewer are needed; default: all. */
  wanted?: number;
  /** The next components after an id that match everything but the status, at most `limit`. */
  read(afterId: string, limit: number): Promise<Component[]>;
}

/**
 * Matching components in the order of their ids, in batches; each comes with the reader that knows their statuses. The
 * status is computed here, all else is filtered in SQL.
 */
export async function* selectComponents(
  steps: SelectionSteps,
): AsyncGenerator<{ components: Component[]; reader: StatusReader }> {
  const reader = createStatusReader(steps.db, steps.options);
  let after = steps.afterId;
  let wanted = steps.wanted ?? Number.POSITIVE_INFINITY;
  while (wanted > 0) {
    const size = steps.status ? BATCH : Math.min(BATCH, wanted);
    const batch = await steps.read(after, size);
    await reader.prepare(batch);
    const components = batch
      .filter((component) => !steps.status || reader.of(component).status === steps.status)
      .slice(0, wanted);
    wanted -= components.length;
    if (components.length > 0) yield { components, reader };
    const last = batch.at(-1);
    if (last === undefined || batch.length < size) return;
    after = last.id;
  }
}
