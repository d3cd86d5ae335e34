/** Asks member clusters in turn whether they are there. */
import { PROBE_MS, probePause } from '../../domain/deployments/connectivity.ts';
import { clusterName } from '../../domain/deployments/naming.ts';
import type { MemberClusters, ReadKubeconfig, VersionAnswer } from '../../domain/deployments/ports.ts';
import { isMusterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { type DueCluster, noteProbe, type ProbeNote, takeDueClusters } from '../../store/deployments/cluster-probes.ts';
import { listWaitsFor } from '../../store/deployments/context-waits.ts';
import { isClusterInUse } from '../../store/deployments/contexts.ts';
import { noticeReach } from '../../store/deployments/notices.ts';
import type { Seal } from '../sealing/seal.ts';
import { placeOf } from './cluster-seal.ts';
import type { Waiting } from './wake-waiting.ts';

/** Clusters that this process asks at once. A cluster that does not answer keeps its place until its time limit. */
const AT_ONCE = 50;
/** Time between two looks for clusters whose probe is due, ms. */
const LOOK_MS = 1_000;

export interface ProbeDependencies {
  db: Db;
  clusterSeal: Seal;
  readKubeconfig: ReadKubeconfig;
  memberClusters: MemberClusters;
  log: { warn(fields: object, message: string): void };
  /** A cluster that has not answered for so long is unreachable, ms. */
  staleAfterMs: number;
  /** Tells work that waits for a cluster that it is back. */
  wake(waiting: readonly Waiting[]): Promise<void>;
  clock(): Date;
}

/** Probes clusters until the returned stop. */
export function keepProbing(deps: ProbeDependencies): () => Promise<void> {
  const open = new Set<Promise<void>>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    const now = deps.clock();
    const room = AT_ONCE - open.size;
    const due = room === 0 ? [] : await takeDueClusters(deps.db, now, new Date(now.getTime() + PROBE_MS), room);
    for (const cluster of due) {
      const work = probe(deps, cluster)
        .catch((error) => deps.log.warn({ err: messageOf(error) }, 'the probe of a cluster is not on record'))
        .finally(() => open.delete(work));
      open.add(work);
    }
  };
  const turn = () => {
    looking = look()
      .catch((error) => deps.log.warn({ err: messageOf(error) }, 'clusters cannot be probed now'))
      .finally(() => {
        if (!isStopped) timer = setTimeout(turn, LOOK_MS);
      });
  };
  turn();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await looking;
    await Promise.all(open);
  };
}

/** Asks one cluster, keeps what it said, and wakes what waits for it. While something waits, the cluster is asked as often as that wants it. */
export async function probe(deps: ProbeDependencies, { kubeconfig, ...cluster }: DueCluster): Promise<void> {
  const note = noteOf(await askVersion(deps, { kubeconfig, ...cluster }));
  const waits = await listWaitsFor(deps.db, cluster);
  const now = deps.clock();
  const pause = probePause(
    'seen' in note,
    await isClusterInUse(deps.db, cluster),
    waits.map(({ retryMs }) => retryMs),
  );
  await noteProbe(deps.db, cluster, note, { now, next: new Date(now.getTime() + pause) });
  await noticeReach(deps.db, cluster, 'seen' in note, new Date(now.getTime() - deps.staleAfterMs));
  if (!('seen' in note)) return;
  const name = clusterName(cluster);
  await deps.wake(waits.map(({ context, phase }) => ({ context, phase, cluster: name })));
}

async function askVersion(deps: ProbeDependencies, cluster: DueCluster): Promise<VersionAnswer> {
  try {
    const file = await deps.clusterSeal.open(cluster.kubeconfig, placeOf(cluster));
    const { credential } = await deps.readKubeconfig(file);
    return await deps.memberClusters.readVersion(credential);
  } catch (error) {
    if (!isMusterError(error)) throw error;
    if (error.code === 'cluster_address_not_allowed') return { noAnswer: 'address', message: error.detail };
    return { refused: 'CredentialUnreadable', message: error.detail };
  }
}

function noteOf(answer: VersionAnswer): ProbeNote {
  if ('version' in answer) return { seen: { version: answer.version } };
  if ('refused' in answer) return { failed: { reason: answer.refused, message: answer.message } };
  const reason = answer.noAnswer === 'address' ? 'AddressNotAllowed' : 'Unreachable';
  return { failed: { reason, message: answer.message } };
}
