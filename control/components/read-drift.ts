import {
  DRIFT_STATUSES,
  type DriftDetail,
  type DriftItem,
  type DriftListQuery,
} from '../../domain/components/drift-schema.ts';
import { musterError } from '../../domain/errors.ts';
import { type DriftRow, findDrift, listDriftIds } from '../../store/components/drift.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';

/** Components read at once. */
const BATCH = 500;

/** Everything that the last check found of a component. Throws `drift_not_found` for one without a record. */
export async function getDrift(db: Db, id: string): Promise<DriftDetail> {
  const rows = await findDrift(db, [id], true);
  if (rows.length === 0) {
    const detail = `Nothing is known of drift of component ${id}: it was not checked since it was last configured`;
    throw musterError('drift_not_found', detail);
  }
  return {
    ...summaryOf(rows),
    layers: rows.map((row) => ({
      ...layerOf(row),
      changes: row.changes,
      changes_left_out: row.changes_left_out,
    })),
  };
}

/** A page of the list, read while it is sent. */
export interface DriftPages {
  limit: number;
  batches: AsyncGenerator<DriftItem[], void>;
  /** Whether more match; known when `batches` has ended. */
  more(): boolean;
}

/** What is known of the components that match, by id; without limit as many as the option default_page_size says. */
export async function listDrift(db: Db, query: DriftListQuery): Promise<DriftPages> {
  const limit = query.limit ?? (await readOptions(db)).default_page_size;
  const selection = {
    status: query.status || undefined,
    configuration: query.config_name || undefined,
    ids: query.ids ? query.ids.split(',') : undefined,
  };
  let more = false;
  async function* batches(): AsyncGenerator<DriftItem[], void> {
    let after = query.after_id ?? '';
    let left = limit;
    while (left > 0) {
      const size = Math.min(BATCH, left);
      const ids = await listDriftIds(db, selection, after, size + 1);
      const shown = ids.slice(0, size);
      after = shown.at(-1) ?? after;
      left -= shown.length;
      more = ids.length > size;
      const byId = Map.groupBy(await findDrift(db, shown, false), (row) => row.id);
      yield [...byId.values()].map((rows) => ({ ...summaryOf(rows), layers: rows.map(layerOf) }));
      if (!more) return;
    }
  }
  return { limit, batches: batches(), more: () => more };
}

function summaryOf(rows: readonly DriftRow[]): Omit<DriftItem, 'layers'> {
  const [first] = rows;
  if (first === undefined) throw new Error('a component without layers');
  const times = rows.map((row) => row.checked_at.getTime());
  return {
    id: first.id,
    status: DRIFT_STATUSES.find((status) => rows.some((row) => row.status === status)) ?? 'in_sync',
    configuration: first.configuration,
    changed: rows.reduce((sum, row) => sum + row.changed, 0),
    uncertain: rows.reduce((sum, row) => sum + row.uncertain, 0),
    checked_at: new Date(Math.max(...times)).toISOString(),
  };
}

function layerOf(row: DriftRow): DriftItem['layers'][number] {
  const { layer, clone_url, playbook, commit, status, changed, uncertain, session_name } = row;
  return {
    layer,
    clone_url,
    playbook,
    commit,
    status,
    changed,
    uncertain,
    session_name,
    checked_at: row.checked_at.toISOString(),
  };
}
