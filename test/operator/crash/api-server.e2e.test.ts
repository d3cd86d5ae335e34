/** An operator whose API server ends, loses its store or stalls in the middle of runs: the runs go on, once, and nothing that changed is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileNow } from '../../../control/operator/request-of-resource.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import { type ClusterWay, openClusterWay } from '../../support/operator/cluster-way.ts';
import {
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { type RunReads, readRuns } from '../../support/operator/run-reads.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** A watch begins again after up to 30 s, an activity after up to 10 s (ms). */
const BACK_MS = 180_000;
const STALL_MS = 90_000;
const TEST_MS = 900_000;

describeNeeding(kubernetesMissing(), 'an operator whose API server is away', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let cluster: ClusterWay;
  let runs: RunReads;
  beforeAll(async () => {
    bench = await openOperatorBench({ muster: { backoff: { initial: '1000s' } } });
    cluster = await openClusterWay(bench);
    operator = await bench.start({
      env: { KUBECONFIG: cluster.kubeconfig },
      args: ['--max-concurrent-reconciles', '4', '--max-concurrent-runs', '4'],
    });
    runs = readRuns(bench, () => operator.said().slice(-4_000), BACK_MS);
  }, 600_000);
  afterAll(async () => {
    await bench?.close();
    await cluster?.cut();
  });

  /** Has a widget run by hand, as somebody may ask while the cluster is away. */
  const runAgain = async (name: string) =>
    reconcileNow({ db: bench.db, clock: () => new Date(), actor: 'ann' }, await runs.idOf(name));
  const sizesOf = (name: string) => runs.begins(name).map(({ size }) => size);

  test.each([
    ['is killed and begins again', 'killed', 'kill', 'restart'],
    ['loses its etcd for a while', 'stored', 'killStore', 'restartStore'],
  ] as const)(
    'that %s in a run',
    async (_, name, kill, restart) => {
      const [asked, changed] = [`${name}-asked`, `${name}-changed`];
      for (const one of [asked, changed]) {
        await bench.create(one, { size: 1 });
        await runs.came(one, ['created ok']);
      }
      await bench.create(name, { gate: name });
      await runs.hasBegun(name);
      await bench.api[kill]();
      await runAgain(asked);
      runs.openGate(name);
      await runs.hasEnded(name);
      expect(await runs.outcomes(name)).toEqual(['created null']);
      await bench.api[restart]();
      await eventually(
        'the cluster takes a change',
        () =>
          bench.change(changed, { size: 2 }).then(
            () => true,
            () => false,
          ),
        BACK_MS,
      );
      await runs.came(name, ['created ok']);
      await runs.came(asked, ['created ok', 'manual ok']);
      await runs.came(changed, ['created ok', 'changed ok']);
      await bench.condition(name, 'Successful', 'True');
      await runs.isQuiet();
      expect(runs.begins(name)).toHaveLength(1);
      expect(sizesOf(changed)).toEqual(['1', '2']);
    },
    TEST_MS,
  );

  test(
    'that stalls for 90 s, while some runs end and others go on',
    async () => {
      for (const one of ['asked', 'changed', 'doomed']) {
        await bench.create(one, { size: 1 });
        await runs.came(one, ['created ok']);
      }
      for (const one of ['through', 'beyond']) {
        await bench.create(one, { gate: one });
        await runs.hasBegun(one);
      }
      const until = Date.now() + STALL_MS;
      cluster.freeze();
      await bench.create('born', { size: 1 });
      await bench.remove('doomed');
      await runAgain('asked');
      runs.openGate('through');
      await runs.hasEnded('through');
      await bench.change('changed', { size: 2 });
      await delay(Math.max(0, until - Date.now()));
      expect(await runs.outcomes('through')).toEqual(['created null']);
      expect(operator.process.exitCode).toBeNull();
      cluster.thaw();
      await runs.came('through', ['created ok']);
      runs.openGate('beyond');
      await runs.came('beyond', ['created ok']);
      await runs.came('born', ['created ok']);
      await runs.came('asked', ['created ok', 'manual ok']);
      await runs.came('changed', ['created ok', 'changed ok']);
      await eventually(
        'the widget that was deleted is known as gone',
        async () => {
          const row = await bench.db
            .selectFrom('operator_resources')
            .select('phase')
            .where('name', '=', 'doomed')
            .executeTakeFirst();
          return row?.phase === 'gone';
        },
        BACK_MS,
      );
      for (const one of ['through', 'beyond', 'born']) await bench.condition(one, 'Successful', 'True');
      await runs.isQuiet();
      expect(['through', 'beyond', 'born'].map((one) => runs.begins(one).length)).toEqual([1, 1, 1]);
      expect(sizesOf('changed')).toEqual(['1', '2']);
    },
    TEST_MS,
  );
});
