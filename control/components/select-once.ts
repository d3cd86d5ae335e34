import { randomUUID } from 'node:crypto';
import { type HostlistTag, readHostlist } from '../../domain/components/hostlist.ts';
import {
  SELECTION_MINUTES,
  SELECTION_SAMPLE,
  type Selection,
  type Selector,
} from '../../domain/components/selection-schema.ts';
import { musterError } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { statusesOfComponents } from '../../store/components/component-status.ts';
import { idsWithTag, knownIds } from '../../store/components/components.ts';
import { idsOfFailure } from '../../store/components/last-failures.ts';
import { findSelection, insertSelection } from '../../store/components/selections.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { bothOf } from './both-of.ts';
import type { WriteComponentsDependencies } from './put-components.ts';
import { selectionOf } from './select-components.ts';

/** The names that a hostlist means, in natural order. Throws `bad_hostlist`, `hostlist_too_large`. */
export async function expandHostlist(db: Db, hosts: string): Promise<string[]> {
  const list = readHostlist(hosts);
  const keyOf = ({ key, value }: HostlistTag) => JSON.stringify([key, value]);
  const members = new Map<string, string[]>();
  for (const tag of list.tags) {
    if (!members.has(keyOf(tag))) members.set(keyOf(tag), await idsWithTag(db, tag.key, tag.value));
  }
  return list.names((tag) => members.get(keyOf(tag)) ?? []);
}

/** Chooses components and keeps their ids for the action that follows. Throws `bad_hostlist`, `hostlist_too_large`, `bad_tags`. */
export async function selectOnce({ db, clock }: WriteComponentsDependencies, selector: Selector): Promise<Selection> {
  const { found, unknown } = await findSelected(db, selector);
  const ids = found.map(({ id }) => id);
  const now = clock();
  const expiresAt = new Date(now.getTime() + SELECTION_MINUTES * 60_000);
  const id = randomUUID();
  await insertSelection(db, { id, ids, expiresAt }, now);
  const by_status = { unconfigured: 0, failed: 0, pending: 0, configured: 0 };
  for (const { status } of found) by_status[status] += 1;
  const sample = ids.slice(0, SELECTION_SAMPLE);
  return { id, count: ids.length, by_status, sample, unknown, expires_at: wireTime(expiresAt) };
}

/** The ids that an action means, in the order of ids, with those of `ids` that no component has. Throws `selection_gone` too. */
export async function selectedIds(
  { db, clock }: WriteComponentsDependencies,
  selected: string | Selector,
): Promise<string[]> {
  if (typeof selected !== 'string') {
    const { found, unknown } = await findSelected(db, selected);
    return [...found.map(({ id }) => id), ...unknown];
  }
  const ids = await findSelection(db, selected, clock());
  if (ids !== undefined) return ids;
  throw musterError(
    'selection_gone',
    `There is no selection ${selected}: it is kept for ${SELECTION_MINUTES} minutes.`,
    'selection',
  );
}

async function findSelected(db: Db, selector: Selector) {
  const { hosts, failure, changed_since, ...filter } = 'filter' in selector ? selector.filter : {};
  const named =
    'ids' in selector ? [...new Set(selector.ids)] : hosts === undefined ? null : await expandHostlist(db, hosts);
  const failed = failure === undefined ? undefined : await idsOfFailure(db, failure);
  const found = await statusesOfComponents(db, {
    ...selectionOf(filter),
    ids: bothOf(named ?? undefined, failed),
    status: filter.status || undefined,
    changedSince: changed_since === undefined ? undefined : new Date(changed_since),
    options: await readOptions(db),
  });
  if (named === null) return { found, unknown: [] };
  const known = new Set(await knownIds(db, named));
  return { found, unknown: named.filter((id) => !known.has(id)) };
}
