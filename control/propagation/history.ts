/** What was committed, newest first. */
import { musterError } from '../../domain/errors.ts';
import { detailLines } from '../../domain/propagation/diff.ts';
import type { HistoryItemView } from '../../domain/propagation/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findHistoryItem, type HistoryRow, listHistory } from '../../store/propagation/staged-items.ts';
import { mapPage, onePage, type Page } from '../changes/pages.ts';
import { changeNotFound } from './discard-changes.ts';
import { shownDiff } from './read-resources.ts';

/** Returns a page of committed items, newest first, after the one of a uid. */
export async function pageOfHistory(db: Db, after: string, limit: number): Promise<Page<HistoryItemView>> {
  const before = after === '' ? null : await placeOf(db, after);
  return mapPage(await onePage(limit, (rows) => listHistory(db, before, rows)), viewOfHistory);
}

async function placeOf(db: Db, uid: string): Promise<number> {
  const row = isUuid(uid) ? await findHistoryItem(db, uid) : null;
  if (row === null) {
    throw musterError('bad_request', `There is no change ${uid.slice(0, 300)} in the history`, 'after_id');
  }
  return row.place;
}

/**
 * Returns one committed item.
 * Throws `change_not_found`.
 */
export async function getHistoryItem(db: Db, uid: string): Promise<HistoryItemView> {
  const row = isUuid(uid) ? await findHistoryItem(db, uid) : null;
  if (row === null) throw changeNotFound(uid);
  return viewOfHistory(row);
}

function viewOfHistory(row: HistoryRow): HistoryItemView {
  const { uid, resource, action, diff, connections_diff, base_path, tags, plan, committed_at } = row;
  return {
    uid,
    log_action: `${resource}.${action}`,
    resource,
    action,
    diff: shownDiff(diff),
    connections_diff: shownDiff(connections_diff),
    base_path,
    tags,
    plan,
    committed_at: committed_at.toISOString(),
    details: [...detailLines(diff), ...detailLines(connections_diff)],
  };
}
