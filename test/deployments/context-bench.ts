/** AppContexts whose rows are made over REST and whose work is done step by step, on clusters in memory. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { applyGroup } from '../../control/deployments/apply-group.ts';
import { openClusterSeal, openContentSeals } from '../../control/deployments/cluster-seal.ts';
import { createClusterTurns } from '../../control/deployments/cluster-turns.ts';
import { deleteGroup } from '../../control/deployments/delete-group.ts';
import type { GroupAnswer, GroupDependencies, GroupInput } from '../../control/deployments/group-work.ts';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { findContext } from '../../store/deployments/contexts.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type FakeMember, fakeMember } from './fake-member.ts';
import { type Made, makeDeployment, type Wanted } from './placement-fixtures.ts';

const never = new AbortController().signal;

export interface RunningContext extends Made {
  id: string;
}

/** Opens the bench for the tests of a file; each has a cluster of its own. `mark`: begin of the names of its projects. */
export function contextBenchOfBlock(mark: string) {
  let count = 0;
  const bench = {
    api: undefined as unknown as TestApi,
    member: undefined as unknown as FakeMember,
    deps: undefined as unknown as GroupDependencies,
    later(seconds: number) {
      bench.api.now.value = new Date(bench.api.now.value.getTime() + seconds * 1000);
    },
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    async post(url: string, body?: unknown): Promise<any> {
      const answer = await bench.api.call('POST', url, body);
      if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    },
    async instantiated(wanted: Wanted = {}): Promise<RunningContext> {
      const made = await makeDeployment(bench.api.call, `${mark}-${++count}`, wanted);
      await bench.post(`${made.group}/approve`);
      return { ...made, id: (await bench.post(`${made.group}/instantiate`)).instance };
    },
    /** Runs what is wanted, each group once; returns what the groups say. */
    async round(
      { id }: RunningContext,
      more: Partial<Pick<GroupInput, 'waits' | 'hasPlace'>> = {},
    ): Promise<GroupAnswer[]> {
      const { deps } = bench;
      const phase = await beginPhase(deps, id);
      if (phase === null) return [];
      const answers: GroupAnswer[] = [];
      const work = phase.phase === 'apply' ? applyGroup : deleteGroup;
      for (const { cluster, apps } of phase.clusters)
        for (const app of apps)
          answers.push(await work(deps, { context: id, phase: phase.phase, cluster, app, waits: 0, ...more }, never));
      if (answers.every(({ is }) => is === 'ended')) await finishPhase(deps, id, phase.phase);
      return answers;
    },
    async status({ group }: Made) {
      const { body } = await bench.api.call('GET', `${group}/status?output=summary`);
      return { status: body.status, ...body['rsync-status'] };
    },
    async reasons({ id }: RunningContext): Promise<Record<string, string>> {
      const { db } = bench.api.database;
      const rows = await db.selectFrom('context_resources').selectAll().where('context', '=', id).execute();
      return Object.fromEntries(
        rows.map(({ key, status: word, reason }) => [key, reason === null ? word : `${word} ${reason}`]),
      );
    },
  };
  beforeAll(async () => {
    bench.api = await createTestApi();
  });
  afterAll(() => bench.api?.close());
  beforeEach(() => {
    const { api } = bench;
    const { db } = api.database;
    bench.member = fakeMember();
    bench.deps = {
      db,
      readContext: (id) => findContext(db, id),
      clusterSeal: openClusterSeal(db, api.deps.secrets),
      manifestSeal: openContentSeals(db, api.deps.secrets).manifestSeal,
      readKubeconfig: openKubeconfigs(openAddresses({ allowLoopback: true, networks: [], own: [] })),
      memberClusters: bench.member,
      retry: { firstSeconds: 2, backoff: 1, maxSeconds: 60, maxRetries: null },
      turns: createClusterTurns(5),
      beside: 1,
      deletionWaitMs: 300_000,
      callMs: 30_000,
      clock: () => api.now.value,
    };
  });
  return bench;
}
