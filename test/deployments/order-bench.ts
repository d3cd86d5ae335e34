/** Apps that wait for each other on two clusters in memory, each with objects of its own. */
import { beforeEach, expect } from '@jest/globals';
import { wakeBehind } from '../../control/deployments/order-apps.ts';
import type { Waiting } from '../../control/deployments/wake-waiting.ts';
import { archiveOf } from './archive-fixture.ts';
import { FORM_HEADERS, formOfArchive, kubeconfigOf, named } from './cluster-fixtures.ts';
import { contextBenchOfBlock, type RunningContext } from './context-bench.ts';
import { type FakeMember, fakeMember } from './fake-member.ts';
import { makeDeployment } from './placement-fixtures.ts';

const SERVERS = { north: 'https://127.0.0.1:1', south: 'https://127.0.0.1:2' };

/** Returns a manifest with nothing but its names; `more`: further members of its metadata. */
export const object = (kind: string, name: string, more = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}${more}}\n---\n`;

export type OrderedApps = Record<string, { manifests: string; dependsOn?: string[] }>;

/** The apps of the vectors: `store` waits for `agent`. */
export const TWO: OrderedApps = {
  agent: { manifests: object('ConfigMap', 'cfg') + object('Service', 'agent') + object('DaemonSet', 'agent') },
  store: { manifests: object('Service', 'store') + object('StatefulSet', 'store'), dependsOn: ['agent'] },
};

/** Opens the bench for the tests of a file. `mark`: begin of the names of its projects. */
export function orderBenchOfBlock(mark: string) {
  const bench = contextBenchOfBlock(mark);
  const members = { north: undefined as unknown as FakeMember, south: undefined as unknown as FakeMember };
  /** Calls that change something, of both clusters in their order. */
  const changes: string[] = [];
  let count = 0;

  const open = (name: string) => {
    const member = fakeMember();
    const faults = { now: member.fault };
    Object.defineProperty(member, 'fault', {
      get: () => (call: string, path: string) => {
        if (call === 'apply' || call === 'delete') {
          changes.push(`${call} ${name} ${path.split('/').slice(-2).join('/')}`);
        }
        return faults.now(call, path);
      },
      set: (fault: FakeMember['fault']) => {
        faults.now = fault;
      },
    });
    return member;
  };
  // Behind the bench, whose one cluster these replace.
  beforeEach(() => {
    changes.splice(0);
    members.north = open('north');
    members.south = open('south');
    const at = ({ server }: { server: string }) => (server === SERVERS.south ? members.south : members.north);
    bench.deps = {
      ...bench.deps,
      memberClusters: {
        readVersion: (credential, ms) => at(credential).readVersion(credential, ms),
        openMember: (credential) => at(credential).openMember(credential),
      },
    };
  });

  return {
    bench,
    members,
    changes,

    /** Instantiates apps on both clusters, of which some wait for others. */
    async instantiated(apps: OrderedApps): Promise<RunningContext> {
      const clusters = {
        north: kubeconfigOf({ server: SERVERS.north }),
        south: kubeconfigOf({ server: SERVERS.south }),
      };
      const made = await makeDeployment(bench.api.call, `${mark}-${++count}`, { clusters, apps: {} });
      for (const [app, { manifests, dependsOn }] of Object.entries(apps)) {
        const metadata = { ...named(app), spec: { dependsOn } };
        const form = formOfArchive(metadata, await archiveOf([['all.yaml', manifests]]));
        const { status: added } = await bench.api.call('POST', `${made.compositeApp}/apps`, form, FORM_HEADERS);
        expect(added).toBe(201);
        const allOf = Object.keys(clusters).map((name) => ({ 'provider-name': made.provider, 'cluster-name': name }));
        const spec = { 'app-name': app, intent: { allOf } };
        await bench.post(`${made.group}/generic-placement-intents/where/app-intents`, { ...named(app), spec });
      }
      await bench.post(`${made.group}/approve`);
      return { ...made, id: (await bench.post(`${made.group}/instantiate`)).instance };
    },

    /** Returns how many resources of each app on each cluster are so. */
    async counts({ id }: RunningContext): Promise<Record<string, number>> {
      const { db } = bench.api.database;
      const rows = await db.selectFrom('context_resources').selectAll().where('context', '=', id).execute();
      const found: Record<string, number> = {};
      for (const { app, cluster, status, reason } of rows) {
        const place = [app, cluster, status, reason ?? ''].join(' ').trim();
        found[place] = (found[place] ?? 0) + 1;
      }
      return found;
    },

    /** Ends a group of an app as its activity does; returns the clusters that are told, by name. */
    async told(run: RunningContext, phase: 'apply' | 'delete', app: string): Promise<string[]> {
      const heard: Waiting[] = [];
      const deps = { db: bench.deps.db, wake: async (waiting: readonly Waiting[]) => void heard.push(...waiting) };
      await wakeBehind(deps, { context: run.id, phase, app });
      return heard.map(({ cluster }) => cluster.slice(run.provider.length + 1));
    },
  };
}
