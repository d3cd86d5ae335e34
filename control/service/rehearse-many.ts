/** Dry runs of writes to very many records: the first are rehearsed, so that not all are locked, and all are counted. */
import { isChanged, patchOfAction } from '../../domain/components/component-actions.ts';
import { type Component, type ComponentBody, ComponentFilterPatchSchema } from '../../domain/components/schema.ts';
import { ActionBodySchema } from '../../domain/components/selection-schema.ts';
import { patchComponent, patchedMembers } from '../../domain/components/write-component.ts';
import { isMusterError } from '../../domain/errors.ts';
import { createBecomes } from '../../domain/service/becomes.ts';
import { SHOWN_CHANGES } from '../../domain/service/dry-run-schema.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { inSlices } from '../changes/in-slices.ts';
import { selectComponents, selectionOf } from '../components/select-components.ts';
import { selectedIds } from '../components/select-once.ts';
import { type ManyRecords, MOST_REHEARSED } from './many-records.ts';
import { countSessionCancels, countSessionDeletes } from './rehearse-many-sessions.ts';

/** Components that are read at once. */
const BATCH = 2_000;

/** Bodies that choose records by themselves. */
export type ManyForm = 'action' | 'filter patch' | 'cancel' | 'delete';

interface Deps {
  db: Db;
  clock(): Date;
}

/** Members of a filter's patch whose effect the stored records tell. */
const COUNTED = ['desired_config', 'enabled', 'error_count', 'retry_policy', 'state', 'tags'];

const COUNTS: Readonly<Record<ManyForm, (deps: Deps, body: unknown) => Promise<ManyRecords | null>>> = {
  action: countAction,
  'filter patch': countFilterPatch,
  cancel: countSessionCancels,
  delete: countSessionDeletes,
};

/**
 * Counts a write to more than 1,000 records without a lock. Returns null for one to fewer, and for one that cannot be counted: it is
 * rehearsed as a whole. A body that its route refuses is such a one.
 */
export async function countMany(deps: Deps, form: ManyForm, body: unknown): Promise<ManyRecords | null> {
  try {
    return await COUNTS[form](deps, body);
  } catch (error) {
    if (isMusterError(error)) return null;
    throw error;
  }
}

async function countAction(deps: Deps, given: unknown): Promise<ManyRecords | null> {
  const body = ActionBodySchema.safeParse(given);
  if (!body.success) return null;
  const ids = await selectedIds(deps, body.data.selection);
  if (ids.length <= MOST_REHEARSED) return null;
  const tally = createTally(patchOfAction(body.data), deps.clock());
  for (let start = 0; start < ids.length; start += BATCH) {
    await tallyMatching(deps.db, tally, { ids: ids.slice(start, start + BATCH) });
  }
  const { changed, found, first, becomes } = tally;
  const unchanged = found.length - changed;
  const known = new Set(found);
  const vanished = ids.filter((id) => !known.has(id));
  return {
    sample: { ...body.data, selection: { ids: first.length > 0 ? first : ids.slice(0, SHOWN_CHANGES) } },
    ...{ total: found.length, changed, unchanged, becomes: becomes.all(), answer: { changed, unchanged, vanished } },
  };
}

async function countFilterPatch(deps: Deps, given: unknown): Promise<ManyRecords | null> {
  const body = ComponentFilterPatchSchema.safeParse(given);
  if (!body.success) return null;
  const { patch, filters } = body.data;
  const isCounted = Object.entries(patch).every(([name, value]) => value === undefined || COUNTED.includes(name));
  if (!isCounted) return null;
  const { configName, ...rest } = filters;
  const tally = createTally(patch, deps.clock());
  await tallyMatching(deps.db, tally, { filter: { ...rest, config_name: rest.config_name || configName } });
  const { changed, found, first, becomes } = tally;
  // The filter by ids cannot name an id with a comma.
  const sample = (first.length > 0 ? first : found.slice(0, SHOWN_CHANGES)).filter((id) => !id.includes(','));
  if (found.length <= MOST_REHEARSED || sample.length === 0) return null;
  const unchanged = found.length - changed;
  return {
    sample: { patch, filters: { ids: sample.join(',') } },
    ...{ total: found.length, changed, unchanged, becomes: becomes.all(), answer: { component_ids: found } },
  };
}

interface Tally {
  found: string[];
  changed: number;
  /** The first that would change. */
  first: string[];
  becomes: ReturnType<typeof createBecomes>;
  /** What the write makes of a component; null where it deletes. */
  after(component: Component): Component | null;
  isChanged(before: Component, after: Component): boolean;
}

/** @param patch null for a delete */
function createTally(patch: ComponentBody | null, now: Date): Tally {
  const members = patch === null ? null : patchedMembers(patch);
  return {
    ...{ found: [], changed: 0, first: [], becomes: createBecomes() },
    after: (component) => (patch === null ? null : patchComponent(component, patch, now)),
    isChanged: (before, after) => members !== null && isChanged(before, after, members),
  };
}

type Chosen = { ids: readonly string[] } | { filter: Parameters<typeof selectionOf>[0] };

/** Adds the components to the tally, with the statuses of before and after by the rules of lists. */
async function tallyMatching(db: Db, tally: Tally, chosen: Chosen): Promise<void> {
  const filter = 'filter' in chosen ? chosen.filter : {};
  const batches = selectComponents({
    ...{ db, options: await readOptions(db), status: filter.status, afterId: '', lock: 'none' },
    selection: { ...selectionOf(filter), ...('ids' in chosen ? { ids: chosen.ids } : {}) },
  });
  for await (const { components, reader } of batches) {
    const steps = await inSlices(components, (before) => ({ before, after: tally.after(before) }));
    await reader.prepare(steps.flatMap(({ after }) => after ?? []));
    for (const { before, after } of steps) {
      tally.found.push(before.id);
      if (after !== null && !tally.isChanged(before, after)) continue;
      tally.changed += 1;
      if (tally.first.length < SHOWN_CHANGES) tally.first.push(before.id);
      tally.becomes.note(before.id, reader.of(before).status, after === null ? null : reader.of(after).status);
    }
  }
}
