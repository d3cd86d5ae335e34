/** The end of resources: the finalizer's run, what stays when it fails, and what others do meanwhile. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
  WIDGETS,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** On a busy machine a run of Python takes its time (ms). */
const SOON_MS = 120_000;

const F = 'demo.io/finalizer';

describeNeeding(kubernetesMissing(), 'a resource that is deleted', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  beforeAll(async () => {
    // In the finalizer's run the size says that it is one.
    bench = await openOperatorBench({ finalizer: { name: F, vars: { size: 'end' } } });
    operator = await bench.start();
  }, 600_000);
  afterAll(() => bench?.close());

  const begins = (name: string) =>
    bench.calls().flatMap((call) => (call.word === 'begin' && call.name === name ? [call.size] : []));
  const gone = (name: string) =>
    eventually(
      `${name} is gone`,
      async () => (await bench.read(name)) === null,
      SOON_MS,
      () => operator.said().slice(-2_000),
    );
  const outcomes = async (name: string) => {
    const rows = await bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select('c.outcome')
      .where('r.name', '=', name)
      .orderBy('c.started_at')
      .execute();
    return rows.map(({ outcome }) => outcome);
  };
  const patch = (name: string, body: object) =>
    bench.client.ask({
      method: 'PATCH',
      path: `${WIDGETS}/${name}`,
      body,
      contentType: 'application/merge-patch+json',
    });

  test('has the finalizer before its first run, and goes after the finalizer ran once (V22, V23)', async () => {
    await bench.create('one', { size: 'normal' });
    await bench.condition('one', 'Successful', 'True');
    expect((await bench.read('one'))?.metadata.finalizers).toEqual([F]);
    await bench.remove('one');
    await gone('one');
    expect(begins('one')).toEqual(['normal', 'end']);
  });

  test('stays while the finalizer fails, and goes once it is ok (V24, V25)', async () => {
    await bench.create('two', { size: 'normal' });
    await bench.condition('two', 'Successful', 'True');
    const events = [{ event: 'runner_on_failed', event_data: { host: 'localhost', res: { msg: 'cleanup' } } }];
    await bench.change('two', { stats: { ok: 1, failures: 1 }, events, rc: 2 });
    await bench.condition('two', 'Failure', 'True');
    await bench.remove('two');
    await eventually('the finalizer has failed', () => begins('two').includes('end'), SOON_MS);
    const list = conditionsOf(await bench.read('two'));
    expect(list.find(({ type }) => type === 'Failure')).toMatchObject({ status: 'True', message: 'cleanup' });
    expect((await bench.read('two'))?.metadata.finalizers).toEqual([F]);
    await bench.change('two', { stats: { ok: 1, failures: null }, events: null, rc: 0 });
    await gone('two');
  }, 600_000);

  test('with finalizers of others alone: nothing runs; with both, ours alone goes (V27, V28)', async () => {
    expect(await operator.stop()).toBe(0);
    await bench.create('three', { size: 'normal' }, { finalizers: ['other.io/f'] });
    await bench.create('four', { size: 'normal' }, { finalizers: [F, 'other.io/f'] });
    await bench.remove('three');
    await bench.remove('four');
    operator = await bench.start();
    await eventually(
      'ours is gone',
      async () => (await bench.read('four'))?.metadata.finalizers?.join() === 'other.io/f',
      SOON_MS,
    );
    await bench.condition('four', 'Successful', 'True');
    await eventually('it is refused', async () => (await outcomes('three')).includes('refused'), SOON_MS);
    expect((await bench.read('three'))?.metadata.finalizers).toEqual(['other.io/f']);
    expect(begins('three')).toEqual([]);
    expect(begins('four')).toEqual(['end']);
    for (const name of ['three', 'four']) await patch(name, { metadata: { finalizers: null } });
    await gone('four');
  }, 600_000);

  test('deleted in its run: the run ends, and the finalizer runs at once (V29, V30); a stop in between loses nothing', async () => {
    await bench.create('five', { size: 'normal', gate: 'five' });
    await eventually('its run has begun', () => begins('five').length === 1, SOON_MS);
    await bench.remove('five');
    await operator.stop();
    operator = await bench.start();
    writeFileSync(join(bench.home, 'gate-five'), '');
    await gone('five');
    expect(begins('five')).toEqual(['normal', 'end']);
  }, 600_000);

  test('whose finalizer somebody takes away in its run is gone, which is no error (V32)', async () => {
    await bench.create('six', { size: 'normal', gate: 'six' });
    await eventually('its run has begun', () => begins('six').length === 1, SOON_MS);
    await bench.remove('six');
    await patch('six', { metadata: { finalizers: null } });
    await gone('six');
    writeFileSync(join(bench.home, 'gate-six'), '');
    await eventually('its record says so', async () => (await outcomes('six')).join() === 'gone', SOON_MS);
    expect(begins('six')).toEqual(['normal']);
  });
});
