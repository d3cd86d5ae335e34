/** Ways of runs to the cluster: each has a password of its own for the proxy, which is kept as a hash in the folder of the run. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdmittedRun, OperatorProxy, RunWays } from '../../domain/operator/proxy-ports.ts';
import { runKubeconfig } from '../../domain/operator/run-kubeconfig.ts';
import { folderName } from '../../domain/runs/folder-name.ts';
import { makeRunDirectory, runPaths, writePrivate } from '../local-runner/run-files.ts';
import { newProxyPassword } from '../operator-proxy/admitted-runs.ts';

const FILE = 'way.json';

export interface RunWaysOptions {
  /** Folder with a folder for each run. */
  runsDir: string;
  proxy: Pick<OperatorProxy, 'port' | 'ca' | 'admit' | 'end'>;
  /** Called at the end of each way; the way is closed once it is done. */
  ended(runId: string): Promise<void>;
}

/** Opens the ways of the runs that live, which an earlier process of this machine has left, and then those of new runs. */
export async function openRunWays({ runsDir, proxy, ended }: RunWaysOptions): Promise<RunWays> {
  const fileOf = (runId: string): string => join(runsDir, folderName(runId), FILE);
  for (const folder of await readdir(runsDir)) {
    const run = await readWay(join(runsDir, folder, FILE));
    if (run !== null) proxy.admit(run);
  }
  return {
    async open(run) {
      const { password, hash } = newProxyPassword();
      const { group, version, kind, blacklist } = run.entry;
      const { watch_dependent_resources, watch_cluster_scoped_resources } = run.entry;
      const admitted: AdmittedRun = {
        runId: run.runId,
        owner: run.owner,
        passwordHash: hash,
        entry: { group, version, kind, watch_dependent_resources, watch_cluster_scoped_resources, blacklist },
      };
      await makeRunDirectory(runPaths(runsDir, run.runId));
      await writePrivate(fileOf(run.runId), JSON.stringify(admitted));
      proxy.admit(admitted);
      return { password, kubeconfig: runKubeconfig({ port: proxy.port, ca: proxy.ca, owner: run.owner, password }) };
    },
    async close(runId) {
      proxy.end(runId);
      await ended(runId);
      await rm(fileOf(runId), { force: true });
    },
  };
}

/** Null where a run has no way, or none that can be read: it is then not let in. */
async function readWay(path: string): Promise<AdmittedRun | null> {
  try {
    const way = JSON.parse(await readFile(path, 'utf8')) as Partial<AdmittedRun> | null;
    const isWhole = [way?.runId, way?.passwordHash, way?.owner?.uid].every((text) => typeof text === 'string');
    return isWhole ? (way as AdmittedRun) : null;
  } catch {
    return null;
  }
}
