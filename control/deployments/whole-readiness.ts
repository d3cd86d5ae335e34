/** Whether everything that an AppContext brings is ready. It says what a status query says, and reads only what may say no. */
import { connectivityOf } from '../../domain/deployments/connectivity.ts';
import { appliedSince, isReceived, isStale } from '../../domain/deployments/freshness.ts';
import { membersOf } from '../../domain/deployments/members.ts';
import { clusterName } from '../../domain/deployments/naming.ts';
import { readinessOf } from '../../domain/deployments/readiness.ts';
import type { Db } from '../../store/connection/database.ts';
import { type GroupKind, lacksObjects, listDoubtful, listGroupKinds } from '../../store/deployments/readiness.ts';
import { listWatchedClusters } from '../../store/deployments/snapshots.ts';
import type { StatusDependencies } from './query-status.ts';

/** Live objects of so many clusters are read at once: of all of them they may be too many for the memory. */
const TOGETHER = 50;

/** Returns whether each resource of an AppContext that is Instantiated has a ready object, on clusters of which nothing is stale. */
export async function isWhollyReady(deps: StatusDependencies, context: string): Promise<boolean> {
  const { db } = deps;
  const kinds = await listGroupKinds(db, context);
  if (!(await areSeen(deps, context, kinds))) return false;
  if (await lacksObjects(db, context)) return false;
  const clusters = [...new Map(kinds.map((each) => [clusterName(each), each])).values()];
  for (let done = 0; done < clusters.length; done += TOGETHER) {
    if (!(await areReady(db, context, clusters.slice(done, done + TOGETHER)))) return false;
  }
  return true;
}

/** Whether the kinds of each group have been listed since it was applied, and what was seen of them is not old. */
async function areSeen(
  { db, staleAfterMs, clock }: StatusDependencies,
  context: string,
  kinds: readonly GroupKind[],
): Promise<boolean> {
  const watched = await listWatchedClusters(db, context);
  const clusters = new Map(watched.map((each) => [clusterName(each), each]));
  const now = clock();
  const groups = new Map<string, GroupKind[]>();
  for (const kind of kinds) {
    const key = `${kind.app}/${clusterName(kind)}`;
    groups.set(key, [...(groups.get(key) ?? []), kind]);
  }
  return [...groups.values()].every((own) => {
    const [first] = own as [GroupKind];
    const known = clusters.get(clusterName(first)) ?? { kinds: [], watchedUntil: null };
    const sight = { isAnswering: first.is_answering ?? false, lastSeen: first.last_seen };
    const connectivity = connectivityOf(sight, now, staleAfterMs);
    const matters = [...own, { group: '', kind: 'Pod' }];
    if (isStale({ ...known, connectivity }, matters, { now, staleAfterMs })) return false;
    const appliedAt = appliedSince(
      first.applied_at,
      own.some(({ was_sent }) => was_sent),
    );
    return own.every((kind) => isReceived(known, kind, appliedAt));
  });
}

async function areReady(db: Db, context: string, clusters: readonly GroupKind[]): Promise<boolean> {
  const doubtful = await listDoubtful(db, context, clusters);
  return doubtful.every(
    ({ group, kind, object }) => readinessOf(group, kind, membersOf(JSON.parse(object))) === 'Ready',
  );
}
