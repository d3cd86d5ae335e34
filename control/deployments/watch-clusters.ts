/** Keeps the watches of member clusters: each cluster with something to watch is watched by one worker. */
import { clusterName } from '../../domain/deployments/naming.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { WatchLost } from '../../store/deployments/snapshots.ts';
import {
  forgetWatches,
  releaseWatch,
  renewWatches,
  takeWatches,
  type WatchLease,
} from '../../store/deployments/watches.ts';
import { type ClusterWatchDependencies, LOOK_MS, watchCluster } from './watch-cluster.ts';

/** A worker that does not renew its watch for so long has lost it, ms. */
const LEASE_MS = 30_000;
/** Clusters that one worker watches. */
const MOST = 250;

interface Watched {
  lease: WatchLease;
  end: AbortController;
  done: Promise<void>;
}

/** Watches clusters until the returned stop, which lets other workers take them at once. */
export function keepWatching(deps: ClusterWatchDependencies): () => Promise<void> {
  const { db, clock, log } = deps;
  const watched = new Map<string, Watched>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const until = () => new Date(clock().getTime() + LEASE_MS);

  const look = async () => {
    await forgetWatches(db);
    const own = [...watched.values()];
    const leases = own.map(({ lease }) => lease);
    const kept = new Set((await renewWatches(db, leases, until())).map(keyOf));
    for (const { lease, end } of own) if (!kept.has(keyOf(lease))) end.abort();
    const room = MOST - watched.size;
    const taken = room === 0 ? [] : await takeWatches(db, clock(), until(), room);
    for (const lease of taken) begin(lease);
  };
  const begin = (lease: WatchLease) => {
    const end = new AbortController();
    const key = clusterName(lease);
    const done = watchCluster(deps, lease, end.signal)
      .catch((error) => {
        if (!(error instanceof WatchLost)) log.warn({ cluster: key, err: messageOf(error) }, 'a watch has ended');
      })
      .finally(() => {
        if (watched.get(key)?.lease === lease) watched.delete(key);
      });
    // A watch of its own that it has lost ends by itself.
    watched.get(key)?.end.abort();
    watched.set(key, { lease, end, done });
  };
  const turn = () => {
    looking = look()
      .catch((error) => log.warn({ err: messageOf(error) }, 'clusters cannot be watched now'))
      .finally(() => {
        if (!isStopped) timer = setTimeout(turn, LOOK_MS);
      });
  };
  turn();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await looking;
    const open = [...watched.values()];
    for (const { end } of open) end.abort();
    await Promise.all(open.map(({ done }) => done));
    for (const { lease } of open) {
      await releaseWatch(db, lease, clock()).catch((error) =>
        log.warn({ cluster: clusterName(lease), err: messageOf(error) }, 'a watch stays until its time has passed'),
      );
    }
  };
}

/** Returns what tells a watch from each former one of its cluster. */
function keyOf({ number, ...ref }: WatchLease): string {
  return `${clusterName(ref)} ${number}`;
}
