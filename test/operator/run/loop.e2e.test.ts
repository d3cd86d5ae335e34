/** An operator beside a real API server on which somebody changes a dependent for ever. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeDependentKind } from '../../../store/operator/dependent-kinds.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  GROUP,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const WIDGET = { group: GROUP, version: 'v1', kind: 'Widget' };
const MAP = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true } as const;

describeNeeding(kubernetesMissing(), 'a controller that changes a dependent for ever', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  beforeAll(async () => {
    bench = await openOperatorBench();
    operator = await bench.start({ args: ['--operator-name', 'looper'] });
  }, 600_000);
  afterAll(() => bench?.close());

  const row = () =>
    bench.db.selectFrom('operator_resources').selectAll().where('name', '=', 'w1').executeTakeFirstOrThrow();
  const begins = () => bench.calls().filter(({ word }) => word === 'begin').length;

  test('is named, and slowed down more and more; a change of the resource runs at once and ends that', async () => {
    const { metadata } = await bench.create('w1', { size: 1 });
    await bench.condition('w1', 'Successful', 'True');
    const owner = { apiVersion: `${GROUP}/v1`, kind: 'Widget', name: 'w1', uid: metadata.uid };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', ownerReferences: [owner] } };
    await bench.client.ask({ method: 'POST', path: MAPS, body });
    const pair = { entry: WIDGET, kind: { ...MAP, mark: 'owner_reference' as const } };
    await writeDependentKind(bench.db, 'looper', pair, new Date());
    await eventually('it is watched', () => operator.said().includes('dependents are watched'), 60_000);

    const stop = new AbortController();
    const meddle = async () => {
      for (let count = 0; !stop.signal.aborted; count += 1) {
        await bench.client.ask({
          ...{ method: 'PATCH', path: `${MAPS}/web`, query: { fieldManager: 'meddler' } },
          ...{ contentType: 'application/merge-patch+json', body: { data: { count: `${count}` } } },
        });
        await delay(100);
      }
    };
    const meddling = meddle();
    const slowed = async (seconds: number) =>
      eventually(
        `a delay of ${seconds} s`,
        async () => ((await row()).dependent_loop?.delaySeconds ?? 0) >= seconds,
        180_000,
        async () => ({ row: await row(), said: operator.said().slice(-2_000) }),
      );
    await slowed(8);
    const runs = begins();
    const { body: events } = await bench.client.ask<{ items: { reason: string; message: string }[] }>({
      ...{ method: 'GET', path: '/api/v1/namespaces/default/events' },
    });
    expect(events.items.filter(({ reason }) => reason === 'ReconcileLoop').map(({ message }) => message)).toEqual([
      expect.stringContaining('ConfigMap default/web is changed again and again by meddler'),
    ]);
    const waiting = await eventually('it waits', async () => {
      const now = await row();
      return now.phase === 'waiting' && now;
    });
    expect(waiting.reason).toContain('by meddler');
    await slowed(16);
    // From 8 s on each run waits at least as long as all before it.
    expect(begins() - runs).toBeLessThanOrEqual(2);
    // A busy machine begins a run sooner than that too.
    await slowed(32);
    await eventually('it waits again', async () => (await row()).reconcile_id === null, 60_000);

    // Before the loop's next run, which is due in 32 s.
    await bench.change('w1', { size: 2 });
    await eventually('it runs', () => bench.calls().some(({ size }) => size === '2'), 28_000);
    await eventually('nothing of the loop is left', async () => (await row()).dependents_from === null, 60_000);
    stop.abort();
    await meddling;
    const causes = await bench.db.selectFrom('operator_reconciles').select('cause').execute();
    expect(causes.map(({ cause }) => cause)).toContainEqual({
      ...{ type: 'dependent', object: 'ConfigMap default/web', manager: 'meddler' },
    });
  }, 600_000);
});
