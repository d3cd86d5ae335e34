/** Dry runs of commands to very many sessions: the first are rehearsed, so that not all are locked, and all are counted. */
import { SHOWN_CHANGES } from '../../domain/service/dry-run-schema.ts';
import {
  type SessionsCancel,
  SessionsCancelSchema,
  type SessionsDelete,
  SessionsDeleteSchema,
} from '../../domain/sessions/many-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { findNames, listCancellable, listDoomed } from '../../store/sessions/session-queries.ts';
import { cancelSelection, namesNotCancelled } from '../sessions/cancel-sessions.ts';
import { deleteSelection } from '../sessions/delete-chosen-sessions.ts';
import { type ManyRecords, MOST_REHEARSED } from './many-records.ts';

interface Deps {
  db: Db;
  clock(): Date;
}

/** Counts a cancel of more sessions than a dry run locks. Returns null for one of fewer, and for a body that its route refuses. */
export async function countSessionCancels({ db, clock }: Deps, given: unknown): Promise<ManyRecords | null> {
  const body = SessionsCancelSchema.safeParse(given);
  if (!body.success) return null;
  const found = await listCancellable(db, await cancelSelection(db, body.data, clock()));
  const others = await namesNotCancelled(db, body.data.names);
  const ended = found.filter(({ waits }) => waits).length;
  return sampled(body.data, found, { cancelled: found.length, ended, ...others });
}

/** Counts a delete of more sessions than a dry run locks. Returns null for one of fewer, and for a body that its route refuses. */
export async function countSessionDeletes({ db, clock }: Deps, given: unknown): Promise<ManyRecords | null> {
  const body = SessionsDeleteSchema.safeParse(given);
  if (!body.success) return null;
  const found = await listDoomed(db, await deleteSelection(db, body.data, clock()));
  const { names = [] } = body.data;
  const known = await findNames(db, names);
  return sampled(body.data, found, {
    deleted: found.length,
    cancelled: found.filter(({ open }) => open).length,
    names: found.map(({ name }) => name),
    missing: [...new Set(names)].filter((name) => !known.has(name)),
  });
}

function sampled(
  { reason }: SessionsCancel | SessionsDelete,
  found: readonly { name: string }[],
  answer: Record<string, unknown>,
): ManyRecords | null {
  if (found.length <= MOST_REHEARSED) return null;
  const names = found.slice(0, SHOWN_CHANGES).map(({ name }) => name);
  const counts = { total: found.length, changed: found.length, unchanged: 0, becomes: [] };
  return { sample: { ...(reason === undefined ? {} : { reason }), names }, ...counts, answer };
}
