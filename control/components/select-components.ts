import type { DriftStatus } from '../../domain/components/drift-schema.ts';
import type { Component, ComponentFilter } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { parseTagFilter } from '../../domain/components/tags.ts';
import { lockComponentsByStatus, pageComponentsByStatus } from '../../store/components/component-status.ts';
import {
  type ComponentSelection,
  lockComponentPage,
  lockStatelessPage,
  pageComponents,
} from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { createStatusReader, type StatusReader } from './desired-layers.ts';

/** Components read at once; bounds the memory of lists and patches however many there are. */
const BATCH = 2_000;

/** A filter with its texts taken apart; empty texts filter nothing. Throws `bad_tags`. */
export function selectionOf(
  filter: ComponentFilter & { text?: string | undefined; drift?: DriftStatus | undefined },
): ComponentSelection {
  return {
    ids: filter.ids ? filter.ids.split(',') : undefined,
    enabled: filter.enabled,
    desiredConfig: filter.config_name || undefined,
    tags: parseTagFilter(filter.tags ?? ''),
    textInId: filter.text || undefined,
    drift: filter.drift,
  };
}

export interface SelectionSteps {
  /** A transaction when the components are to be locked. */
  db: Db;
  options: StatusOptions;
  selection: ComponentSelection;
  status: ComponentFilter['status'];
  afterId: string;
  /** Stops early when fewer are needed; default: all. */
  wanted?: number;
  /**
   * Whether they are locked until the transaction ends; `stateless` when nobody looks at their states, which are then empty
   * unless the status is asked for.
   */
  lock: 'none' | 'whole' | 'stateless';
}

/**
 * Matching components in the order of their ids, in batches; each comes with a reader that knows their statuses. SQL
 * filters; what another writer changed before it was locked, or whose configuration changed between two statements, is
 * judged again, so that nothing is answered or changed whose status is another.
 */
export async function* selectComponents(
  steps: SelectionSteps,
): AsyncGenerator<{ components: Component[]; reader: StatusReader }> {
  let after = steps.afterId;
  let wanted = steps.wanted ?? Number.POSITIVE_INFINITY;
  while (wanted > 0) {
    const size = Math.min(BATCH, wanted);
    const batch = await readBatch(steps, after, size);
    const last = batch.at(-1);
    if (last === undefined) return;
    const reader = createStatusReader(steps.db, steps.options);
    await reader.prepare(batch);
    const components = steps.status ? batch.filter((one) => reader.of(one).status === steps.status) : batch;
    wanted -= components.length;
    if (components.length > 0) yield { components, reader };
    // One that was deleted while its lock was waited for is missing in its batch, which is no sign of the end.
    if (batch.length < size && steps.lock === 'none') return;
    after = last.id;
  }
}

function readBatch(
  { db, selection, status, options, lock }: SelectionSteps,
  after: string,
  size: number,
): Promise<Component[]> {
  if (!status) return PAGES[lock](db, selection, after, size);
  const page = lock === 'none' ? pageComponentsByStatus : lockComponentsByStatus;
  return page(db, { ...selection, status, options }, after, size);
}

const PAGES = { none: pageComponents, whole: lockComponentPage, stateless: lockStatelessPage };
