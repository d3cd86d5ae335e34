/** Ways of runs to the cluster: each has a password of its own for the proxy, of which a hash is kept. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdmittedRun, KeptPasswords, OperatorProxy, RunWays } from '../../domain/operator/proxy-ports.ts';
import { runKubeconfig } from '../../domain/operator/run-kubeconfig.ts';
import { makeRunDirectory, runPaths, writePrivate } from '../local-runner/run-files.ts';
import { newProxyPassword } from '../operator-proxy/admitted-runs.ts';

export interface RunWaysOptions {
  /** Folder with a folder for each run. */
  runsDir: string;
  proxy: Pick<OperatorProxy, 'port' | 'ca' | 'admit' | 'end' | 'cutAll'>;
  kept: KeptPasswords;
  /** Runs that an earlier process of this machine has left, and that may live. */
  live: readonly AdmittedRun[];
  /** Called at the end of each way; the way is closed once it is done. */
  ended(runId: string): Promise<void>;
}

/** File in the folder of a run that was cut off from the cluster. */
const AWAY = 'away';

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Opens the ways of the runs that live, and then those of new runs. */
export function openRunWays({ runsDir, proxy, kept, live, ended }: RunWaysOptions): RunWays {
  const open = new Set<string>();
  const away = new Set(live.map(({ runId }) => runId));
  const noteOf = (runId: string): string => join(runPaths(runsDir, runId).dir, AWAY);
  const admit = (run: AdmittedRun): void => {
    open.add(run.runId);
    proxy.admit(run);
  };
  for (const run of live) admit(run);
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
      await kept.keep(admitted);
      admit(admitted);
      return { password, kubeconfig: runKubeconfig({ port: proxy.port, ca: proxy.ca, owner: run.owner, password }) };
    },
    async close(runId) {
      proxy.end(runId);
      open.delete(runId);
      await ended(runId);
      await kept.forget(runId);
    },
    async cutAll() {
      proxy.cutAll();
      const runs = [...open];
      open.clear();
      for (const runId of runs) away.add(runId);
      // Where that cannot be written it is known as long as this process lives.
      await Promise.allSettled(runs.map((runId) => writePrivate(noteOf(runId), '')));
      return runs;
    },
    wasAway: async (runId) => away.has(runId) || exists(noteOf(runId)),
  };
}
