/** What is there in clusters: watched on clusters in memory, kept in rows, shown by the status query. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { keepWatching } from '../../control/deployments/watch-clusters.ts';
import { WatchLost, writeChanges } from '../../store/deployments/snapshots.ts';
import { releaseWatch, renewWatches, takeWatches, type WatchLease } from '../../store/deployments/watches.ts';
import { eventually } from '../support/eventually.ts';
import { kubeconfigOf } from './cluster-fixtures.ts';
import { contextBenchOfBlock, type RunningContext } from './context-bench.ts';
import { AWAY, refusal } from './fake-member.ts';
import type { Wanted } from './placement-fixtures.ts';

const CONFIGS = '/api/v1/configmaps';
const SERVICES = '/api/v1/services';
const PODS = '/api/v1/pods';
const bench = contextBenchOfBlock('s');
const { later, post, instantiated, round } = bench;
let stop: (() => Promise<void>) | undefined;

const watch = () => {
  stop = keepWatching({ ...bench.deps, log: { warn: () => undefined }, random: () => 0 });
};
beforeEach(() => {
  stop = undefined;
});
afterEach(async () => {
  await stop?.();
  // What the next test finds is its own.
  const { db } = bench.api.database;
  await db.updateTable('deployment_contexts').set({ state: 'Terminated', wanted: null }).execute();
  await db.deleteFrom('cluster_watches').execute();
});

const live = (name: string, label: string, more: object = {}) => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, labels: { 'emco/deployment-id': label } },
  ...more,
});
const service = (label: string) => live('agent', label, { spec: { clusterIP: '10.0.0.1' } });
/** Everything that the deployment brings is there. */
const allThere = ({ id }: RunningContext) => {
  bench.member.live.set(CONFIGS, [live('cfg', `${id}-agent`)]);
  bench.member.live.set(SERVICES, [service(`${id}-agent`)]);
};
const answers = ({ provider }: RunningContext) =>
  bench.api.database.db
    .updateTable('member_cluster_probes')
    .set({ is_answering: true, last_seen: bench.api.now.value, probed_at: bench.api.now.value })
    .where('provider', '=', provider)
    .execute();
const shown = async ({ group }: RunningContext, query: string) =>
  (await bench.api.call('GET', `${group}/status?${query}`)).body;
/** What is asked of a deployment alone, which reads less. */
const isReadyAlone = async ({ project }: RunningContext) => {
  const name = encodeURIComponent(`${project.split('/').at(-1)}+telemetry+v1+edge`);
  return (await bench.api.call('GET', `/api/v1/deployments/${name}`)).body.ready;
};
const counts = async (run: RunningContext) => {
  const {
    'cluster-status': there,
    'ready-status': ready,
    ready: isReady,
  } = await shown(run, 'type=all&output=summary');
  const alone = await isReadyAlone(run);
  return { there, ready, isReady: alone === isReady ? isReady : `${isReady}, and ${alone} alone` };
};
const come = (what: string, run: RunningContext, expected: object) =>
  eventually(
    what,
    async () => JSON.stringify(await counts(run)) === JSON.stringify(expected),
    60_000,
    () => counts(run),
  );
const watchOf = (path: string) => eventually(`the watch of ${path}`, () => bench.member.watches.get(path));
const ALL_WELL = { there: { Present: 2 }, ready: { Ready: 2 }, isReady: true };

async function applied(wanted: Wanted = {}): Promise<RunningContext> {
  const run = await instantiated(wanted);
  await round(run);
  await answers(run);
  return run;
}

describe('what is there', () => {
  test('is unknown before the first list, and then what the cluster says', async () => {
    const run = await applied();
    expect(await counts(run)).toEqual({ there: { Unknown: 2 }, ready: { Unknown: 2 }, isReady: false });
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
  });

  test('is gone as soon as the cluster says so, and the message says that it was deleted outside', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    await (await watchOf(CONFIGS)).tell({ is: 'gone', object: live('cfg', `${run.id}-agent`) });
    await come('cfg is gone', run, {
      there: { NotPresent: 1, Present: 1 },
      ready: { Ready: 1, NotReady: 1 },
      isReady: false,
    });
    const { apps } = await shown(run, 'type=all&resource=cfg');
    expect(apps[0].clusters[0].resources).toEqual([
      expect.objectContaining({ 'cluster-status': 'NotPresent', reason: 'DeletedOutside' }),
    ]);
  });

  test('belongs to the AppContext that its label names', async () => {
    const run = await applied();
    allThere(run);
    bench.member.live.set(CONFIGS, [live('cfg', '77-other')]);
    watch();
    await come('cfg is another one', run, {
      there: { NotPresent: 1, Present: 1 },
      ready: { Ready: 1, NotReady: 1 },
      isReady: false,
    });
    const { apps } = await shown(run, 'type=all&resource=cfg');
    expect(apps[0].clusters[0].resources[0].reason).toBe('NotOwned');
    expect((await shown(run, 'type=cluster')).apps[0].clusters[0].resources).toHaveLength(1);
  });

  test('is looked at on all clusters', async () => {
    const run = await applied({ clusters: { north: kubeconfigOf(), south: kubeconfigOf() } });
    allThere(run);
    watch();
    await come('all is there', run, { there: { Present: 4 }, ready: { Ready: 4 }, isReady: true });
    await stop?.();
    const { db } = bench.api.database;
    const object = JSON.stringify({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    for (const cluster of ['south', 'north']) {
      const there = { provider: run.provider, cluster, name: 'cfg' };
      const rows = db.selectFrom('cluster_objects').select('object');
      const before = await rows.where((eb) => eb.and(there)).executeTakeFirstOrThrow();
      const change = db.updateTable('cluster_objects').where((eb) => eb.and(there));
      await change.set({ object }).execute();
      expect(await counts(run)).toEqual({ there: { Present: 4 }, ready: { Ready: 3, NotReady: 1 }, isReady: false });
      await change.set(before).execute();
    }
    expect((await counts(run)).isReady).toBe(true);
  });

  test('is of one manifest, though another names the same object', async () => {
    const config = (namespace: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg${namespace}}\ndata: {a: b}\n`;
    const run = await applied({ apps: { agent: `${config('')}---\n${config(', namespace: default')}` } });
    expect(await bench.status(run)).toMatchObject({ Applied: 2 });
    allThere(run);
    watch();
    await come('it is there', run, {
      there: { NotPresent: 1, Present: 1 },
      ready: { Ready: 1, NotReady: 1 },
      isReady: false,
    });
  });

  test('has pods beside what manifests describe, and says why one is not ready', async () => {
    const run = await applied();
    allThere(run);
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const lastState = { terminated: { exitCode: 1, reason: 'Error' } };
    const containers = [{ name: 'main', restartCount: 4, state, lastState, ready: false }];
    bench.member.live.set(PODS, [
      live('agent-0', `${run.id}-agent`, { status: { phase: 'Running', containerStatuses: containers } }),
    ]);
    watch();
    await come('the pod is there', run, { there: { Present: 3 }, ready: { Ready: 2, NotReady: 1 }, isReady: true });
    const { apps } = await shown(run, 'type=cluster&resource=agent-0');
    expect(apps[0].clusters[0].resources[0]).toMatchObject({
      reason: 'CrashLoopBackOff',
      message: 'pod agent-0, container main: CrashLoopBackOff, 4 restarts, last ended with 1 (Error)',
    });
    expect(await shown(run, 'format=legacy')).toMatchObject({
      'rsync-status': { Applied: 2 },
      'cluster-status': { Present: 3 },
      resources: [{ 'app-name': 'agent', clusters: [{ name: `${run.provider}+north` }] }],
    });
  });

  test('is listed anew where the cluster does not know any more what was told', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    bench.member.live.set(CONFIGS, []);
    (await watchOf(CONFIGS)).end({ version: null, failed: null });
    await come('cfg is not in the new list', run, {
      there: { NotPresent: 1, Present: 1 },
      ready: { Ready: 1, NotReady: 1 },
      isReady: false,
    });
  });

  test('is listed anew at once where what was told last could not be written', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    const { db } = bench.api.database;
    await sql`create function refuse_change() returns trigger language plpgsql
      as 'begin raise exception ''no space is left''; end'`.execute(db);
    await sql`create trigger refuse_change before delete on cluster_objects
      for each row execute function refuse_change()`.execute(db);
    try {
      const first = await watchOf(CONFIGS);
      bench.member.live.set(CONFIGS, []);
      await first.tell({ is: 'gone', object: live('cfg', `${run.id}-agent`) });
      await eventually('the watch has ended', async () => bench.member.watches.get(CONFIGS) !== first);
    } finally {
      await sql`drop function refuse_change cascade`.execute(db);
    }
    await come('cfg is gone', run, {
      there: { NotPresent: 1, Present: 1 },
      ready: { Ready: 1, NotReady: 1 },
      isReady: false,
    });
  });

  test('goes on where it was when a watch ends in its time', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    const first = await watchOf(CONFIGS);
    first.end({ version: '41', failed: null });
    const next = await eventually('the next watch', () => {
      const found = bench.member.watches.get(CONFIGS);
      return found === first ? null : found;
    });
    expect(next.asked.after).toBe('41');
    expect(await counts(run)).toEqual(ALL_WELL);
  });

  test('is listed anew for what is applied after the list', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    await post(`${run.group}/terminate`);
    await round(run);
    await post(`${run.group}/approve`);
    later(1);
    const again = { ...run, id: (await post(`${run.group}/instantiate`)).instance };
    allThere(again);
    later(1);
    await round(again);
    await answers(again);
    await come('the new objects are there', again, ALL_WELL);
  });
});

describe('a kind', () => {
  test('that may not be watched is unknown, and the others go on', async () => {
    const run = await applied();
    allThere(run);
    bench.member.fault = (call, what) =>
      call === 'watch' && what === SERVICES ? refusal(403, 'Forbidden') : undefined;
    watch();
    await come('cfg is there', run, {
      there: { Unknown: 1, Present: 1 },
      ready: { Ready: 1, Unknown: 1 },
      isReady: false,
    });
    const { apps } = await shown(run, 'type=all&resource=agent');
    expect(apps[0].clusters[0].resources).toEqual([
      expect.objectContaining({ 'cluster-status': 'Unknown', reason: 'Forbidden', message: 'it is Forbidden' }),
    ]);
    later(120);
    await answers(run);
    // It is no fault that passes, so nothing is old once the worker has kept its watch.
    await come('cfg is still ready', run, {
      there: { Unknown: 1, Present: 1 },
      ready: { Ready: 1, Unknown: 1 },
      isReady: false,
    });
  });

  test('that cannot be watched for long makes what was seen stale, and it stays', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    bench.member.fault = (call, what) => (call === 'watch' && what === CONFIGS ? AWAY : undefined);
    (await watchOf(CONFIGS)).end({ version: '41', failed: AWAY });
    await eventually('the fault is on record', async () => {
      const { db } = bench.api.database;
      const query = db.selectFrom('cluster_watch_kinds').select('reason').where('failing_since', 'is not', null);
      return (await query.where('provider', '=', run.provider).executeTakeFirst())?.reason === 'Unreachable';
    });
    expect(await counts(run)).toEqual(ALL_WELL);
    later(61);
    await answers(run);
    expect(await counts(run)).toEqual({ there: { Present: 2 }, ready: { Unknown: 2 }, isReady: false });
    const { apps } = await shown(run, 'type=all&resource=cfg');
    expect(apps[0].clusters[0].resources[0]).toMatchObject({
      ...{ 'rsync-status': 'Applied', reason: 'Stale' },
      message: expect.stringMatching(/^ConfigMap cannot be watched: Unreachable/),
    });
    bench.member.fault = () => undefined;
    await come('it is watched again', run, ALL_WELL);
  });
});

describe('a cluster', () => {
  test('that is unreachable never looks ready', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    const { db } = bench.api.database;
    await db
      .updateTable('member_cluster_probes')
      .set({ is_answering: false })
      .where('provider', '=', run.provider)
      .execute();
    later(60);
    expect(await counts(run)).toEqual({ there: { Present: 2 }, ready: { Unknown: 2 }, isReady: false });
    const { apps } = await shown(run, 'type=all');
    expect(apps[0].clusters[0].connectivity).toBe('Unreachable');
  });

  const take = async (): Promise<WatchLease[]> => {
    const { db } = bench.api.database;
    const now = bench.api.now.value;
    return await takeWatches(db, now, new Date(now.getTime() + 30_000), 10);
  };
  const own = (leases: readonly WatchLease[], { provider }: RunningContext) =>
    leases.find((lease) => lease.provider === provider);

  test('is watched by one worker, and what another one writes is refused', async () => {
    const run = await applied();
    const { db } = bench.api.database;
    const taken = (await Promise.all([take(), take(), take()])).flat();
    expect(taken.filter(({ provider }) => provider === run.provider)).toHaveLength(1);
    const first = own(taken, run);
    if (first === undefined) throw new Error('the watch is not taken');
    expect(own(await take(), run)).toBeUndefined();
    later(31);
    const second = own(await take(), run);
    if (second === undefined) throw new Error('the watch is not free');
    expect(second.number).toBe(first.number + 1);
    expect(await renewWatches(db, [first, second], new Date(bench.api.now.value.getTime() + 30_000))).toEqual([second]);
    const seen = { namespace: '', name: 'n', uid: 'u', context: run.id, app: 'agent', object: {} };
    const kind = { group: '', version: 'v1', kind: 'Pod' };
    const late = writeChanges(db, first, { kind, number: 1, now: bench.api.now.value }, [{ there: seen }]);
    await expect(late).rejects.toThrow(WatchLost);
    await releaseWatch(db, first, bench.api.now.value);
    expect(own(await take(), run)).toBeUndefined();
    await releaseWatch(db, second, bench.api.now.value);
    expect(own(await take(), run)).toMatchObject({ number: second.number + 1 });
  });

  test('has no number twice, though its watch was forgotten meanwhile', async () => {
    const run = await applied();
    const { db } = bench.api.database;
    const first = own(await take(), run);
    await db.deleteFrom('cluster_watches').execute();
    const second = own(await take(), run);
    expect(second?.number).toBeGreaterThan(Number(first?.number));
  });

  test('is watched as long as something is there, and forgotten afterwards', async () => {
    const run = await applied();
    allThere(run);
    watch();
    await come('all is there', run, ALL_WELL);
    await post(`${run.group}/terminate`);
    await round(run);
    const { db } = bench.api.database;
    await eventually('nothing is kept of it', async () => {
      const rows = await db.selectFrom('cluster_objects').select('name').where('provider', '=', run.provider).execute();
      return rows.length === 0 && !bench.member.watches.has(CONFIGS);
    });
    expect(await take()).toEqual([]);
  });
});
