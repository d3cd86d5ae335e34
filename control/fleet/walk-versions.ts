/** Versions of one configuration, from what it is now back by what the audit has of every change. */
import { EARLIEST_VERSION, type VersionAction } from '../../domain/configurations/history-schema.ts';
import {
  type Content,
  contentAfter,
  contentBefore,
  versionAction,
} from '../../domain/configurations/version-history.ts';
import { findConfiguration } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { listAudit } from '../audit/list-audit.ts';

/** Changes that are read at once. */
const SLICE = 200;

/** One version; a content of null: there was no configuration. */
export interface WalkedVersion {
  id: string;
  time: string | null;
  actor: string | null;
  reason: string | null;
  action: VersionAction;
  content: Content;
}

/** What the audit does not show of a record. */
const HIDDEN = ['name', 'last_updated'];

/**
 * Yields the versions, the newest first; nothing where there is neither a configuration nor a change of one. Needs a transaction that sees one state:
 * a change between two reads would be counted twice.
 */
export async function* walkVersions(trx: Db, name: string): AsyncGenerator<WalkedVersion> {
  const stored = await findConfiguration(trx, name);
  let content: Content = stored === undefined ? null : shownMembers(stored.record);
  let isRead = false;
  let isOpen = stored !== undefined;
  for (let after_id: string | null = ''; after_id !== null; ) {
    const page = await listAudit(trx, { kind: 'configuration', name, limit: SLICE, after_id }, null);
    for (const change of page.records) {
      const { id, time, actor, reason } = change;
      content = contentAfter(change, content);
      yield { id, time, actor, reason, action: versionAction(change), content };
      isRead = true;
      content = contentBefore(change, content);
      isOpen = change.before !== null;
    }
    after_id = page.after;
  }
  if (!isOpen) return;
  // Without a change the record itself says who wrote it.
  const known = isRead ? undefined : stored;
  const time = known?.updatedAt.toISOString() ?? null;
  yield { id: EARLIEST_VERSION, time, actor: known?.actor ?? null, reason: null, action: 'unknown', content };
}

function shownMembers(record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([member]) => !HIDDEN.includes(member)));
}

/** Runs `work` in a transaction that sees one state. */
export function inOneState<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}
