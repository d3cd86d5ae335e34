/** The answer to a status query of type `rsync`: what was applied, from the counts down to each manifest. */
import { connectivityOf } from '../../domain/deployments/connectivity.ts';
import { addCounts, shownCounts } from '../../domain/deployments/counting.ts';
import { manifestToApply } from '../../domain/deployments/manifest-cleaning.ts';
import { type Members, membersOf } from '../../domain/deployments/members.ts';
import { clusterName, labelValue } from '../../domain/deployments/naming.ts';
import { notSupported } from '../../domain/deployments/not-supported.ts';
import { groupNames, nameInPath, type RecordKind } from '../../domain/deployments/record-path.ts';
import type { GroupRecord } from '../../domain/deployments/record-schema.ts';
import { RSYNC_STATUSES } from '../../domain/deployments/resource-status.ts';
import { type GivenQuery, readStatusQuery, type StatusQuery } from '../../domain/deployments/status-query.ts';
import { type AppOnCluster, headOf, statusAnswer } from '../../domain/deployments/status-view.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { listStatuses, type StatusRow } from '../../store/deployments/context-statuses.ts';
import { countStatuses } from '../../store/deployments/contexts.ts';
import { findRecord, type RecordRow } from '../../store/deployments/records.ts';
import { recordNotFound } from './records.ts';
import { standingOf } from './situation.ts';

export interface StatusDependencies {
  db: Db;
  /** A cluster that has not answered for so long is unreachable, ms. */
  staleAfterMs: number;
  clock(): Date;
}

/**
 * Returns the status of a deployment intent group or a logical cloud.
 * Throws `bad_request` for a mistake in the query, `not_supported` for what is not built of it, `not_found`.
 */
export async function statusOf(
  deps: StatusDependencies,
  kind: Extract<RecordKind, 'group' | 'cloud'>,
  path: string,
  given: GivenQuery,
): Promise<Members> {
  const { db } = deps;
  const query = readStatusQuery(given);
  const record = await findRecord(db, { kind, path });
  if (record === null) throw recordNotFound(kind, path);
  if (query.legacy) throw notSupported('format=legacy');
  if (query.type !== 'rsync') throw notSupported(`type=${query.type}`);
  const { actions, state, instance, contexts } = await standingOf(db, path);
  const asked = query.instance ?? instance;
  const status = asked === null ? null : (contexts.get(asked) ?? null);
  if (asked !== null && status === null) {
    throw musterError('not_found', `'${nameInPath(path)}' has no instance '${asked}'`);
  }
  const head = { names: namesOf(kind, record), state, actions, status };
  if (asked === null) return headOf(head);
  if (!isCountAlone(query)) return statusAnswer(head, await groupsOf(deps, asked, query), query);
  const counts = shownCounts(addCounts(RSYNC_STATUSES, [await countStatuses(db, asked)]));
  return counts === undefined ? headOf(head) : { ...headOf(head), 'rsync-status': counts };
}

/** Counted by the database: there may be many resources. */
function isCountAlone({ output, apps, clusters, resources }: StatusQuery): boolean {
  return output === 'summary' && apps.length + clusters.length + resources.length === 0;
}

async function groupsOf(deps: StatusDependencies, context: string, query: StatusQuery): Promise<AppOnCluster[]> {
  const rows = await listStatuses(deps.db, context, { ...query, isDetailed: query.output === 'detail' });
  const groups = new Map<string, StatusRow[]>();
  for (const row of rows) {
    const key = `${row.app}/${clusterName(row)}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [row]);
    else known.push(row);
  }
  const now = deps.clock();
  return [...groups.values()].map((own) => groupOf(deps, context, own, now));
}

function groupOf({ staleAfterMs }: StatusDependencies, context: string, rows: StatusRow[], now: Date): AppOnCluster {
  const [{ app, provider, cluster, is_answering, last_seen }] = rows as [StatusRow];
  const probed = { isAnswering: is_answering ?? false, lastSeen: last_seen };
  return {
    ...{ app, provider, cluster },
    connectivity: connectivityOf(probed, now, staleAfterMs),
    lastSeen: last_seen?.toISOString() ?? null,
    resources: rows.map((row) => resourceOf(context, row)),
    // Nothing is known of live objects.
    ...{ live: [], isReceived: () => false, isStale: false },
  };
}

/** The namespace is that which the object was sent to; before, that which the manifest names. */
function resourceOf(context: string, row: StatusRow): AppOnCluster['resources'][number] {
  const { app, key, status, reason, message, sent_namespace, manifest } = row;
  const namespace = sent_namespace ?? row.namespace;
  return {
    ...{ key, status, reason, message },
    identity: { group: row.api_group, version: row.version, kind: row.kind, namespace, name: row.name },
    ...(manifest === undefined
      ? {}
      : { manifest: manifestToApply(membersOf(JSON.parse(manifest)), labelValue(context, app), namespace || null) }),
  };
}

function namesOf(kind: 'group' | 'cloud', record: RecordRow): Record<string, string> {
  if (kind === 'cloud') return { name: nameInPath(record.path) };
  const { project, app, version, name } = groupNames(record.path);
  return {
    project,
    'composite-app-name': app,
    'composite-app-version': version,
    'composite-profile-name': (record as unknown as GroupRecord).spec.profile,
    name,
  };
}
