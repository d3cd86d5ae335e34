/** The older published shape of a status: a translation of a query of type `all`. */
import type { Entry } from './cluster-status.ts';
import { type Members, membersOf } from './members.ts';
import { clusterName } from './naming.ts';
import type { StatusQuery } from './status-query.ts';
import { type AppOnCluster, countsOf, gvkOf, type KeptGroup, keptGroups, type StatusHead } from './status-view.ts';

/** What was `Deleted` is written so there. */
const DELETED = 'Terminated';

/** Returns the answer in the older shape. */
export function legacyAnswer(head: StatusHead, groups: readonly AppOnCluster[], query: StatusQuery): Members {
  const { names, state, status } = head;
  const kept = status === null ? [] : withoutStrangers(keptGroups(groups, query), query);
  const counts = countsOf(
    kept.flatMap(({ entries }) => entries),
    { type: query.legacyRsync ? 'rsync' : 'all' },
  );
  const { 'ready-status': _, ...shown } = counts;
  const apps = [...new Set(kept.map(({ group }) => group.app))];
  const resources = apps.map((app) => ({
    'app-name': app,
    clusters: kept
      .filter(({ group }) => group.app === app)
      .map(({ group, entries }) => ({
        name: clusterName(group),
        resources: entries.map((entry) => view(entry, query)),
      })),
  }));
  return {
    ...names,
    state,
    ...(status === null ? {} : { status }),
    ...renamed(shown),
    ...(query.output === 'summary' || resources.length === 0 ? {} : { resources }),
  };
}

/** `output=rsync` knows manifests alone. */
function withoutStrangers(kept: readonly KeptGroup[], { legacyRsync }: StatusQuery): readonly KeptGroup[] {
  if (!legacyRsync) return kept;
  const own = kept.map(({ group, entries }) => ({ group, entries: entries.filter(({ key }) => key !== undefined) }));
  return own.filter(({ entries }) => entries.length > 0);
}

function view(entry: Entry, { output, legacyRsync }: StatusQuery): Members {
  const shown: Record<string, unknown> = { GVK: gvkOf(entry), Name: entry.identity.name };
  if (output === 'detail') {
    const source = membersOf(legacyRsync ? entry.manifest : (entry.object ?? entry.manifest));
    for (const member of ['metadata', 'spec']) if (source[member] !== undefined) shown[member] = source[member];
    const status = legacyRsync ? undefined : entry.object?.status;
    if (status !== undefined) shown.status = status;
  }
  if (entry.rsyncStatus !== undefined) shown['rsync-status'] = wordOf(entry.rsyncStatus);
  if (!legacyRsync && entry.clusterStatus !== undefined) shown['cluster-status'] = entry.clusterStatus;
  return shown;
}

function renamed(counts: Members): Members {
  const rsync = counts['rsync-status'];
  if (rsync === undefined) return counts;
  const words = Object.entries(membersOf(rsync)).map(([status, count]) => [wordOf(status), count]);
  return { ...counts, 'rsync-status': Object.fromEntries(words) };
}

function wordOf(status: string): string {
  return status === 'Deleted' ? DELETED : status;
}
