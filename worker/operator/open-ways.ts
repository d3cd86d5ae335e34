/** How the runs of this process reach the cluster: the proxy, and what it tells. */
import { join } from 'node:path';
import { openWriteRecord } from '../../control/operator/record-writes.ts';
import type { RunWays } from '../../domain/operator/proxy-ports.ts';
import type { ClusterAccess } from '../../drivers/kubernetes/cluster-access.ts';
import { openOperatorProxy } from '../../drivers/operator-proxy/open-proxy.ts';
import { openRunWays } from '../../drivers/operator-runner/run-ways.ts';
import type { Db } from '../../store/connection/database.ts';
import { deletePassword, takePasswords, writePassword } from '../../store/operator/proxy-passwords.ts';
import { again } from '../again.ts';
import type { openWorkerLog } from '../worker-log.ts';
import type { DependentsFollowed } from './follow-dependents.ts';
import { type OperatorStart, StartRefused } from './read-start.ts';

interface Surroundings {
  start: OperatorStart;
  /** Folder of the operator's data. */
  data: string;
  runsDir: string;
  access: ClusterAccess;
  db: Db;
  /** The operator and this machine. */
  here: { operator: string; machine: string };
  dependents: Pick<DependentsFollowed, 'add'>;
  log: ReturnType<typeof openWorkerLog>;
}

/** Opens the proxy for the runs of this process, and for those that an earlier one has left. Throws `StartRefused` where its port is taken. */
export async function openWays({
  start: { flags, namespaces },
  data,
  runsDir,
  access,
  db,
  here,
  dependents,
  log,
}: Surroundings): Promise<{ ways: RunWays; stop(): Promise<void> }> {
  const inject = flags['inject-owner-ref'];
  if (!inject) log.warn({}, '--inject-owner-ref=false: what playbooks make is not marked, and not watched');
  const record = openWriteRecord({ db, clock: () => new Date(), log });
  const proxy = await openOperatorProxy({
    folder: join(data, 'proxy'),
    port: flags['proxy-port'],
    access,
    inject,
    watchedNamespaces: namespaces ?? [],
    notes: {
      dependent: ({ entry }, kind) => dependents.add(entry, kind),
      wrote: ({ runId }, write) => record.wrote(runId, write),
      answered: (run, request) => log.debug({ run: run?.runId, ...request }, 'a request of a run was answered'),
    },
  }).catch((error: Error) => {
    const code = error.message.startsWith('--proxy-port') ? 'port_taken' : 'proxy_unusable';
    throw new StartRefused([`error: ${code}: ${error.message}`], 1);
  });
  const clock = () => new Date();
  const ways = openRunWays({
    runsDir,
    proxy,
    kept: { keep: (run) => writePassword(db, here, run, clock()), forget: (runId) => deletePassword(db, runId) },
    live: await again('database', log, () => takePasswords(db, here)),
    ended: record.end,
  });
  return {
    ways,
    async stop() {
      await proxy.close();
      await record.close();
    },
  };
}
