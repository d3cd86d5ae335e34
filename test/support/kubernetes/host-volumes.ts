import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubectl, type TestNamespace } from './dev-cluster.ts';

/** Volumes on this machine's disk, where a cluster on it has no provisioner. */
export interface HostVolumes {
  /** Class that claims have to name. */
  storageClass: string;
  /** The folder that a claim of that name gets. */
  folderOf(claim: string): string;
  remove(): Promise<void>;
}

/** Makes one for each claim of a namespace; the claims are made by others. */
export async function makeHostVolumes(namespace: TestNamespace, claims: readonly string[]): Promise<HostVolumes> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-volumes-'));
  const nameOf = (claim: string) => `${namespace.name}-${claim}`;
  const folderOf = (claim: string) => join(dir, claim);
  for (const claim of claims) await mkdir(folderOf(claim));
  await namespace.apply(
    ...claims.map((claim) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: nameOf(claim) },
      spec: {
        capacity: { storage: '1Ti' },
        accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: namespace.name,
        claimRef: { namespace: namespace.name, name: claim },
        hostPath: { path: folderOf(claim), type: 'Directory' },
      },
    })),
  );
  return {
    storageClass: namespace.name,
    folderOf,
    remove: async () => {
      await kubectl(['delete', 'persistentvolume', ...claims.map(nameOf), '--wait=false', '--ignore-not-found']);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
