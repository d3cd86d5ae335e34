/** What people ask of a running operator: by rows alone, and what its cluster is told. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { drainOperator } from '../../../control/operator/drain-operator.ts';
import {
  cancelReconcile,
  pauseResource,
  reconcileNow,
  resumeResource,
} from '../../../control/operator/request-of-resource.ts';
import { sourceCommit } from '../../../worker/operator/source-commit.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
  WIDGETS,
} from '../../support/operator/operator-process.ts';
import { readMetrics } from '../../support/operator/read-metrics.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';

const F = 'demo.io/finalizer';
/** On a busy machine a run of Python takes its time (ms). */
const SOON_MS = 120_000;
/** The dispatcher looks so often by itself (ms): what begins sooner was told to it. */
const LOOK_MS = 30_000;
/** A run that is cancelled is gone so soon (ms), which is long before the run would have ended by itself. */
const CANCELLED_MS = process.env.CI === 'true' ? 60_000 : 12_000;

function isLive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describeNeeding(kubernetesMissing(), 'an operator that is asked', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let metricsPort: number;
  let userPort: number;
  beforeAll(async () => {
    bench = await openOperatorBench({ finalizer: { name: F, vars: { size: 'end' } } });
    metricsPort = await freePort();
    userPort = await freePort();
    operator = await bench.start({
      env: { ANSIBLE_DEBUG_LOGS: 'true' },
      args: [
        ...['--metrics-bind-address', `127.0.0.1:${metricsPort}`, '--metrics-secure', '--metrics-require-rbac'],
        `--user-metrics-port=${userPort}`,
      ],
    });
  }, 600_000);
  afterAll(() => bench?.close());

  const deps = () => ({ db: bench.db, clock: () => new Date(), actor: 'ann' });
  const begins = (name: string) => bench.calls().filter((call) => call.word === 'begin' && call.name === name).length;
  const resource = (name: string) =>
    bench.db.selectFrom('operator_resources').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
  const done = async (name: string, spec: object) => {
    await bench.create(name, spec);
    await bench.condition(name, 'Successful', 'True');
    await eventually(`${name} has nothing open`, async () => (await resource(name)).reconcile_id === null, SOON_MS);
    return (await resource(name)).id;
  };
  const outcomes = async (name: string) => {
    const rows = await bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select(['c.outcome', 'c.cause'])
      .where('r.name', '=', name)
      .orderBy('c.started_at')
      .execute();
    return rows.map(({ outcome, cause }) => `${cause.type} ${outcome}`);
  };
  const eventsOf = async (name: string) => {
    const path = '/api/v1/namespaces/default/events';
    const query = { fieldSelector: `involvedObject.name=${name}` };
    const { body } = await bench.client.ask<{ items: { reason: string; message: string }[] }>({
      method: 'GET',
      path,
      query,
    });
    return body.items.map(({ reason, message }) => `${reason}: ${message}`);
  };

  test('a reconcile by hand begins as soon as it is asked for, with its cause', async () => {
    const id = await done('one', { stdout: 'all that was said' });
    await eventually('its output is in the log', () => operator.said().includes('\nall that was said\n'));
    await reconcileNow(deps(), id);
    await eventually(
      'it ran again',
      () => begins('one') === 2,
      LOOK_MS,
      () => operator.said().slice(-2_000),
    );
    await eventually('on record', async () => (await outcomes('one')).join() === 'created ok,manual ok', SOON_MS);
  });

  test('a cancel ends the run at once, says by whom, and nothing runs again', async () => {
    await bench.create('two', { seconds: 600 });
    await eventually('its run has begun', () => begins('two') === 1, SOON_MS);
    const asked = Date.now();
    await cancelReconcile(deps(), (await resource('two')).id);
    const list = await bench.condition('two', 'Failure', 'True');
    expect(Date.now() - asked).toBeLessThan(CANCELLED_MS);
    expect(list.find(({ type }) => type === 'Failure')).toMatchObject({
      reason: 'Failed',
      message: 'Reconciliation cancelled by ann',
    });
    await eventually('on record', async () => (await outcomes('two')).join() === 'created cancelled', SOON_MS);
    expect(await resource('two')).toMatchObject({ failures: 0, phase: 'waiting' });
    expect(conditionsOf(await bench.read('two')).find(({ type }) => type === 'Running')?.status).toBe('False');
    expect(begins('two')).toBe(1);
  });

  test('a cancel leaves no process that traps TERM or has left the session', async () => {
    await bench.create('six', { seconds: 600, stubborn: true });
    await eventually('its run has begun', () => begins('six') === 1, SOON_MS);
    const pids = readFileSync(join(bench.home, 'pids-six'), 'utf8').split(' ').map(Number);
    expect(pids.filter(isLive)).toEqual(pids);
    await cancelReconcile(deps(), (await resource('six')).id);
    await eventually('its processes are gone', () => !pids.some(isLive), CANCELLED_MS);
    await eventually('on record', async () => (await outcomes('six')).join() === 'created cancelled', SOON_MS);
    // A later drain runs its finalizer, which is not to outlive the test.
    await bench.change('six', { seconds: 0, stubborn: false });
  });

  test('what is paused does not run for a change, and its cluster is told; resumed it runs with the last spec', async () => {
    const id = await done('three', { size: 1 });
    await pauseResource(deps(), id, null);
    await bench.change('three', { size: 2 });
    await eventually('the change is known', async () => (await resource('three')).generation === 2, SOON_MS);
    await eventually(
      'an Event tells of the pause',
      async () => (await eventsOf('three')).includes('Paused: Reconciliation is paused by ann'),
      SOON_MS,
    );
    expect(begins('three')).toBe(1);
    await resumeResource(deps(), id);
    await eventually('it ran', () => begins('three') === 2, SOON_MS);
    expect(
      bench
        .calls()
        .filter(({ name, word }) => name === 'three' && word === 'begin')
        .at(-1)?.size,
    ).toBe('2');
  });

  test('annotations pause it, ask for a reconcile, and are told of where they cannot be read', async () => {
    const annotate = (annotations: Record<string, string | null>) =>
      bench.client.ask({
        ...{ method: 'PATCH', path: `${WIDGETS}/seven`, body: { metadata: { annotations } } },
        contentType: 'application/merge-patch+json',
      });
    await done('seven', { size: 1 });
    await annotate({ 'muster/paused': 'true', 'muster/watch-dependents': 'never' });
    await eventually(
      'an Event tells of the pause',
      async () =>
        (await eventsOf('seven')).includes('Paused: Reconciliation is paused by the annotation muster/paused'),
      SOON_MS,
    );
    await eventually(
      'an Event tells of what cannot be read',
      async () =>
        (await eventsOf('seven')).some((event) =>
          event.startsWith('BadAnnotation: The annotation muster/watch-dependents'),
        ),
      SOON_MS,
    );
    await bench.change('seven', { size: 2 });
    await eventually('the change is known', async () => (await resource('seven')).generation === 2, SOON_MS);
    expect(begins('seven')).toBe(1);
    await annotate({ 'muster/paused': null });
    await eventually('it ran', () => begins('seven') === 2, SOON_MS);
    await eventually('nothing is open', async () => (await resource('seven')).reconcile_id === null, SOON_MS);
    await annotate({ 'muster/reconcile-requested-at': 'now' });
    await eventually('it ran again', () => begins('seven') === 3, SOON_MS);
    await eventually(
      'on record',
      async () => (await outcomes('seven')).join() === 'created ok,changed ok,manual ok',
      SOON_MS,
    );
  }, 600_000);

  test('Events tell of a failure and of the success behind it', async () => {
    const events = [{ event: 'runner_on_failed', event_data: { host: 'localhost', res: { msg: 'boom' } } }];
    await bench.create('four', { stats: { ok: 1, failures: 1 }, events, rc: 2 });
    await eventually('a failure', async () => (await eventsOf('four')).includes('ReconcileFailed: boom'), SOON_MS);
    await bench.change('four', { stats: { ok: 1, failures: null }, events: null, rc: 0 });
    await bench.condition('four', 'Successful', 'True');
    await eventually(
      'a success',
      async () => (await eventsOf('four')).some((event) => event.startsWith('Reconciled:')),
      SOON_MS,
    );
  }, 600_000);

  /** A token of an account of the cluster. */
  const tokenOf = async (account: string) => {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } };
    await bench.client.ask({ method: 'POST', path, body });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const answer = await bench.client.ask<{ status: { token: string } }>({
      ...{ method: 'POST', path: `${path}/${account}/token`, body: request },
    });
    return answer.body.status.token;
  };

  test('its metrics, by https for accounts that may read them, are those of the reference operator, of playbooks and its own', async () => {
    const rights = '/apis/rbac.authorization.k8s.io/v1';
    const group = 'rbac.authorization.k8s.io';
    const [reader, other] = [await tokenOf('reader'), await tokenOf('other')];
    await bench.client.ask({
      ...{ method: 'POST', path: `${rights}/clusterroles` },
      body: {
        ...{ apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name: 'metrics-reader' } },
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      },
    });
    await bench.client.ask({
      ...{ method: 'POST', path: `${rights}/clusterrolebindings` },
      body: {
        ...{ apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'metrics-reader' } },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'metrics-reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
      },
    });
    const metric = { name: 'widget_restarts', description: 'Restarts', counter: { increment: true } };
    const body = JSON.stringify(metric);
    expect((await fetch(`http://127.0.0.1:${userPort}/metrics`, { method: 'POST', body })).status).toBe(200);
    expect((await readMetrics(metricsPort)).status).toBe(401);
    expect((await readMetrics(metricsPort, 'x.y.z')).status).toBe(401);
    expect((await readMetrics(metricsPort, other)).status).toBe(403);
    const parts = [
      `ansible_operator_build_info{commit="${await sourceCommit(ROOT, undefined)}",version="`,
      'ansible_operator_reconcile_result{GVK="demo.io/v1, Kind=Widget",result="succeeded"}',
      'controller_runtime_active_workers{controller="widget-v1-controller"}',
      'resource_created_at_seconds{name="one"',
      'muster_operator_database_up 1',
      'muster_operator_engine_up 1',
      'muster_operator_watching 1',
      'widget_restarts 1',
    ];
    let seen: Awaited<ReturnType<typeof readMetrics>> | undefined;
    // The API server takes up a new right a moment later, and says of servers are those of the last look at them.
    await eventually(
      'the account may read them, and all of them are there',
      async () => {
        seen = await readMetrics(metricsPort, reader);
        return seen.status === 200 && parts.every((part) => seen?.text.includes(part));
      },
      SOON_MS,
      () => ({ status: seen?.status, missing: parts.filter((part) => !seen?.text.includes(part)) }),
    );
    expect(operator.said()).not.toContain(reader);
  });

  test('a drain runs each finalizer and takes it away; the resource stays, and gets it back when it is resumed', async () => {
    const id = await done('five', { size: 1 });
    await drainOperator(deps(), { run: true });
    await eventually(
      'its finalizer is gone',
      async () => ((await bench.read('five'))?.metadata.finalizers ?? []).length === 0,
      SOON_MS,
      () => operator.said().slice(-2_000),
    );
    expect(
      bench
        .calls()
        .filter(({ name, word }) => name === 'five' && word === 'begin')
        .at(-1)?.size,
    ).toBe('end');
    await eventually('it is paused', async () => (await resource('five')).paused_at !== null, SOON_MS);
    await bench.change('five', { size: 3 });
    expect((await bench.read('five'))?.metadata.finalizers ?? []).toEqual([]);
    await resumeResource(deps(), id);
    await eventually('it is back', async () => (await bench.read('five'))?.metadata.finalizers?.join() === F, SOON_MS);
  }, 600_000);
});
