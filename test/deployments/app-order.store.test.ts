/** Apps that wait for other apps, and resources that wait for others of their app. */
import { describe, expect, test } from '@jest/globals';
import { createClusterTurns } from '../../control/deployments/cluster-turns.ts';
import { AWAY, refusal } from './fake-member.ts';
import { object, orderBenchOfBlock, TWO } from './order-bench.ts';

const { bench, members, changes, instantiated, counts, told } = orderBenchOfBlock('o');
const { post, round, status } = bench;
const VIEW = object('ConfigMap', 'view');

const last = (what: RegExp) => changes.findLastIndex((change) => what.test(change));
const first = (what: RegExp) => changes.findIndex((change) => what.test(change));

describe('an app that waits for another', () => {
  test('begins when that is applied on all its clusters (vector 57)', async () => {
    const run = await instantiated(TWO);
    members.south.fault = () => AWAY;
    expect(await round(run)).toMatchObject([
      { is: 'ended' },
      { is: 'away', reason: 'Waiting', message: 'waits for app agent', counts: false, hasMoved: false, waitMs: 20_000 },
      { is: 'away', reason: 'Unreachable' },
      { is: 'away', reason: 'Waiting' },
    ]);
    expect(await counts(run)).toEqual({
      'agent north Applied': 3,
      'agent south Retrying Unreachable': 3,
      'store north Pending Waiting': 2,
      'store south Pending Waiting': 2,
    });
    expect(await status(run)).toEqual({ status: 'Instantiating', Applied: 3, Retrying: 3, Pending: 4 });
    expect(await told(run, 'apply', 'agent')).toEqual([]);
    expect(changes.filter((change) => change.includes('store'))).toEqual([]);
    members.south.fault = () => undefined;
    bench.later(2);
    await round(run);
    expect(await told(run, 'apply', 'agent')).toEqual(['north']);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 10 });
    expect(first(/store/)).toBeGreaterThan(last(/agent|cfg/));
  });

  test('says once what it waits for', async () => {
    const run = await instantiated(TWO);
    members.south.fault = () => AWAY;
    for (let look = 0; look < 3; look += 1) await round(run);
    const { db } = bench.api.database;
    const events = await db.selectFrom('context_events').select('data').where('context', '=', run.id).execute();
    const waiting = events.filter(({ data }) => JSON.stringify(data).includes('"Waiting"'));
    expect(waiting).toHaveLength(4);
    expect(await counts(run)).toMatchObject({ 'store north Pending Waiting': 2 });
  });

  test('is not begun where that failed (vector 34), and goes off with it', async () => {
    const run = await instantiated(TWO);
    members.north.fault = (call, path) =>
      call === 'apply' && path.includes('services') ? refusal(422, 'Invalid') : undefined;
    await round(run);
    expect(await counts(run)).toEqual({
      'agent north Applied': 1,
      'agent north Failed Invalid': 1,
      'agent north Pending': 1,
      'agent south Applied': 3,
      'store north Pending DependencyFailed': 2,
      'store south Pending DependencyFailed': 2,
    });
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 4, Failed: 1, Pending: 5 });
    expect(changes.filter((change) => change.includes('store'))).toEqual([]);
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 10 });
  });

  test('is told of a failure that it waits for by way of another', async () => {
    const run = await instantiated({ ...TWO, view: { manifests: VIEW, dependsOn: ['store'] } });
    members.south.fault = () => AWAY;
    await round(run);
    expect(await counts(run)).toMatchObject({ 'view north Pending Waiting': 1 });
    const { db } = bench.api.database;
    await db
      .updateTable('context_resources')
      .set({ status: 'Failed', reason: 'RetriesExceeded' })
      .where('context', '=', run.id)
      .where('status', '=', 'Retrying')
      .execute();
    expect(await told(run, 'apply', 'agent')).toEqual(['north', 'south']);
    await round(run);
    expect(await counts(run)).toMatchObject({
      'store north Pending DependencyFailed': 2,
      'view north Pending DependencyFailed': 1,
    });
    expect(await status(run)).toMatchObject({ status: 'InstantiateFailed' });
    // Who has heard of it hears nothing more.
    expect(await told(run, 'apply', 'agent')).toEqual([]);
  });

  test('is given up by a stop while it waits', async () => {
    const run = await instantiated(TWO);
    members.south.fault = () => AWAY;
    await round(run);
    await post(`${run.group}/stop`);
    await round(run);
    expect(await counts(run)).toMatchObject({ 'store north Failed Stopped': 2 });
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 3, Failed: 7 });
  });

  test('is taken off before that, on all clusters', async () => {
    const run = await instantiated(TWO);
    await round(run);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 10 });
    await post(`${run.group}/terminate`);
    expect(await round(run)).toMatchObject([
      { is: 'away', reason: 'Waiting', message: 'waits for app store' },
      { is: 'ended' },
      { is: 'away', reason: 'Waiting' },
      { is: 'ended' },
    ]);
    expect(await told(run, 'delete', 'store')).toEqual(['north', 'south']);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 10 });
    expect(first(/delete .* (configmaps|daemonsets|services\/agent)/)).toBeGreaterThan(last(/delete .*store/));
  });

  test('keeps that in place while its own deletion fails; the next termination goes on', async () => {
    const run = await instantiated(TWO);
    await round(run);
    await round(run);
    await post(`${run.group}/terminate`);
    members.north.fault = (call, path) =>
      call === 'delete' && path.endsWith('services/store') ? refusal(403, 'Forbidden') : undefined;
    await round(run);
    await round(run);
    expect(await counts(run)).toEqual({
      'agent north Pending DependencyFailed': 3,
      'agent south Pending DependencyFailed': 3,
      'store north Deleted': 1,
      'store north Failed Forbidden': 1,
      'store south Deleted': 2,
    });
    expect(await status(run)).toMatchObject({ status: 'TerminateFailed' });
    members.north.fault = () => undefined;
    await post(`${run.group}/terminate`);
    await round(run);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 10 });
  });

  test('that waits for none is applied beside others as before', async () => {
    const run = await instantiated(
      Object.fromEntries(Object.entries(TWO).map(([app, { manifests }]) => [app, { manifests }])),
    );
    members.north.fault = (call, path) =>
      call === 'apply' && path.includes('services/agent') ? refusal(422, 'Invalid') : undefined;
    await round(run);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 8, Failed: 1, Pending: 1 });
    expect(await told(run, 'apply', 'agent')).toEqual([]);
  });
});

test('resources are applied behind those that they wait for, and deleted before them', async () => {
  const manifests =
    object('ConfigMap', 'cfg', ", annotations: {muster/wait-on: 'agent+DaemonSet, agent+Service'}") +
    object('Service', 'agent') +
    object('DaemonSet', 'agent');
  const run = await instantiated({ agent: { manifests } });
  members.north.fault = (call, path) => (call === 'apply' && path.includes('daemonsets') ? AWAY : undefined);
  await round(run);
  expect(changes.filter((change) => change.includes('north'))).toEqual([
    'apply north services/agent',
    'apply north daemonsets/agent',
  ]);
  members.north.fault = () => undefined;
  bench.later(2);
  await round(run);
  expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 6 });
  const applied = changes.filter((change) => change.startsWith('apply south'));
  expect(applied).toEqual(['apply south services/agent', 'apply south daemonsets/agent', 'apply south configmaps/cfg']);
  await post(`${run.group}/terminate`);
  await round(run);
  const deleted = changes.filter((change) => change.startsWith('delete south'));
  expect(deleted).toEqual([
    'delete south configmaps/cfg',
    'delete south daemonsets/agent',
    'delete south services/agent',
  ]);
});

test('resources of an app that says what they wait for are handled beside each other, as many as may', async () => {
  const free = ['one', 'two', 'three'].map((name) => object('ConfigMap', name)).join('');
  const manifests = `${object('ConfigMap', 'last', ", annotations: {muster/wait-on: 'one+ConfigMap'}")}${free}`;
  let atWork = 0;
  const peaks: number[] = [];
  bench.deps.beside = 2;
  bench.deps.turns = {
    take: async (_cluster, work) => {
      atWork += 1;
      peaks.push(atWork);
      await new Promise<void>((resolve) => setImmediate(resolve));
      return await work().finally(() => {
        atWork -= 1;
      });
    },
  };
  const run = await instantiated({ agent: { manifests } });
  await round(run);
  expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 8 });
  expect(first(/apply north .*last/)).toBeGreaterThan(first(/apply north .*one/));
  await post(`${run.group}/terminate`);
  await round(run);
  expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 8 });
  expect(first(/delete north .*last/)).toBeLessThan(first(/delete north .*one/));
  expect(Math.max(...peaks)).toBe(2);

  // A refusal ends the group, whatever the resource beside it came to.
  members.north.fault = (call, path) => {
    if (call === 'apply' && path.endsWith('/two')) return refusal(422, 'Invalid');
    return call === 'apply' && path.endsWith('/one') ? AWAY : undefined;
  };
  const failed = await instantiated({ agent: { manifests } });
  await round(failed);
  expect(await status(failed)).toMatchObject({ status: 'InstantiateFailed', Failed: 1, Applied: 4 });
});

describe('resources that wait for their turn at a cluster', () => {
  const names = ['one', 'two', 'three'];
  const manifests = names
    .map((name) => object('ConfigMap', name, name === 'three' ? ", annotations: {muster/wait-on: 'four+Service'}" : ''))
    .join('');
  const apps = { agent: { manifests: object('Service', 'four') + manifests } };
  const north = () => changes.filter((change) => change.includes('north'));

  test('are not applied where the one before them was refused, or the cluster went away', async () => {
    bench.deps.beside = 3;
    bench.deps.turns = createClusterTurns(1);
    const run = await instantiated(apps);
    for (const [answer, status] of [
      [AWAY, 'Retrying Unreachable'],
      [refusal(422, 'Invalid'), 'Failed Invalid'],
    ] as const) {
      members.north.fault = (call) => (call === 'apply' ? answer : undefined);
      changes.splice(0);
      await round(run);
      expect(north()).toHaveLength(1);
      expect(await counts(run)).toMatchObject({ [`agent north ${status}`]: expect.any(Number) });
      bench.later(2);
    }
  });

  test('are not deleted where the cluster went away before them, or the deletion is not wanted any more', async () => {
    bench.deps.beside = 3;
    bench.deps.turns = createClusterTurns(1);
    const run = await instantiated(apps);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 8 });
    await post(`${run.group}/terminate`);
    members.north.fault = (call) => (call === 'delete' ? AWAY : undefined);
    changes.splice(0);
    await round(run);
    expect(north()).toHaveLength(1);
    members.north.fault = () => undefined;
    bench.later(2);
    changes.splice(0);
    const { turns } = bench.deps;
    const begun: string[] = [];
    bench.deps.turns = {
      take: async (cluster, work) =>
        await turns.take(cluster, async () => {
          begun.push(cluster);
          if (begun.length === 2) await post(`${run.group}/stop`);
          return await work();
        }),
    };
    await round(run);
    expect([begun.length > 2, changes.length]).toEqual([true, 1]);
  });
});
