/** An operator beside a real API server: what users see in the status of their resources. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  type Condition,
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** On a busy machine a run of Python takes its time (ms). */
const SOON_MS = 120_000;

const NONE = { ok: null, changed: null, skipped: null, failures: null };
const S0 = { ...NONE, ok: 5, changed: 2, skipped: 1 };
const SF = { ...NONE, ok: 3, failures: 1 };
const failed = (...messages: string[]) =>
  messages.map((msg) => ({ event: 'runner_on_failed', event_data: { host: 'localhost', res: { msg } } }));
/** A second of the API server's times, which are whole seconds, has passed. */
const NEXT_SECOND_MS = 1_100;

describeNeeding(kubernetesMissing(), 'an operator of one kind', () => {
  let bench: OperatorBench;
  beforeAll(async () => {
    bench = await openOperatorBench({ muster: { backoff: { initial: '1000s' } } });
    await bench.start();
  }, 600_000);
  afterAll(() => bench?.close());

  const told = ({ type, status, reason, message, ansibleResult: result }: Condition) => [
    `${type} ${status}/${reason}/${message}`,
    ...(result === undefined ? [] : [[result.ok, result.changed, result.skipped, result.failures]]),
  ];
  /** The conditions once the runs of a resource are over, so many in all. */
  const after = async (name: string, runs: number) => {
    await eventually(
      `${runs} runs of ${name}`,
      async () => {
        const rows = await bench.db
          .selectFrom('operator_reconciles as c')
          .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
          .select('c.ended_at')
          .where('r.name', '=', name)
          .execute();
        expect(rows.length).toBeLessThanOrEqual(runs);
        return rows.length === runs && rows.every(({ ended_at }) => ended_at !== null);
      },
      SOON_MS,
    );
    return conditionsOf(await bench.read(name));
  };
  const timeOf = (list: Condition[], type: string) => list.find((one) => one.type === type)?.lastTransitionTime;
  const pause = () => new Promise((resolve) => setTimeout(resolve, NEXT_SECOND_MS));
  const ok = (...counts: number[]) => [
    ['Running True/Successful/Awaiting next reconciliation', counts],
    ['Successful True/Successful/Last reconciliation succeeded'],
    ['Failure False//'],
  ];
  const broken = (message: string) => [
    ['Running False/Running/Running reconciliation'],
    [`Failure True/Failed/${message}`, [3, 0, 0, 1]],
    ['Successful False//'],
  ];

  test('a run that is ok, another one, then a failure (V1, V2, V3)', async () => {
    await bench.create('one', { stats: S0 });
    const first = await after('one', 1);
    expect(first.map(told)).toEqual(ok(5, 2, 1, 0));
    expect(first[0]?.ansibleResult).toEqual({
      ...{ ok: 5, changed: 2, skipped: 1, failures: 0, unreachable: 0, rescued: 0, ignored: 0 },
      completion: '2026-01-02T03:04:05.678901+00:00',
    });
    await pause();
    await bench.change('one', { stats: { ...NONE, ok: 5 } });
    const second = await after('one', 2);
    expect(second.map(told)).toEqual(ok(5, 0, 0, 0));
    expect(timeOf(second, 'Running')).toBe(timeOf(first, 'Running'));
    expect(timeOf(second, 'Successful')).not.toBe(timeOf(first, 'Successful'));
    await bench.change('one', { stats: SF, events: failed('boom'), rc: 2 });
    expect((await after('one', 3)).map(told)).toEqual(broken('boom'));
  });

  test('a failure, another one, then a run that is ok (V4, V5, V6); failures in a row are on record', async () => {
    await bench.create('two', { stats: SF, events: failed('one'), rc: 2 });
    const first = await after('two', 1);
    expect(first.map(told)).toEqual(broken('one'));
    await pause();
    await bench.change('two', { events: failed('two') });
    const second = await after('two', 2);
    expect(second.map(told)).toEqual([
      ['Successful False//'],
      ['Running False/Running/Running reconciliation'],
      ['Failure True/Failed/two', [3, 0, 0, 1]],
    ]);
    expect(timeOf(second, 'Failure')).toBe(timeOf(first, 'Failure'));
    const row = await bench.db
      .selectFrom('operator_resources')
      .selectAll()
      .where('name', '=', 'two')
      .executeTakeFirst();
    expect(row).toMatchObject({ phase: 'backing_off', last_outcome: 'failed', failures: 1, due_reason: 'back-off' });
    await bench.change('two', { stats: S0, events: null, rc: 0 });
    expect((await after('two', 3)).map(told)).toEqual(ok(5, 2, 1, 0));
  });

  test('what a playbook leaves without statistics, or without output (V13, V14), and a missing period (V16)', async () => {
    await bench.create('three', { stats: null, stdout: 'ERROR! syntax', rc: 4 });
    expect((await after('three', 1)).map(told)).toEqual([
      ['Running False/Running/Running reconciliation'],
      ['Failure True/Failed/ERROR! syntax'],
    ]);
    const annotations = { 'ansible.sdk.operatorframework.io/reconcile-period': '3x' };
    await bench.create('four', {}, { annotations });
    const [only, ...others] = await after('four', 1);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ type: 'Failure', status: 'True', reason: 'Failed' });
    expect(only?.message).toMatch(/^Unable to parse reconcile period annotation: /);
  });

  test('what others write into the status stays (V36), and the run is that of the change', async () => {
    await bench.create('five', { stats: S0, size: 1 });
    await after('five', 1);
    const mine = { type: 'Available', status: 'True', extra: 1 };
    const present = await bench.read('five');
    const body = { ...present, status: { ...(present?.status as object), url: 'x', conditions: [mine] } };
    await bench.client.ask({ method: 'PUT', path: `/apis/demo.io/v1/namespaces/default/widgets/five/status`, body });
    await bench.change('five', { size: 2 });
    const list = await after('five', 2);
    expect(list[0]).toEqual(mine);
    expect(list.slice(1).map(told)).toEqual(ok(5, 2, 1, 0));
    expect((await bench.read('five'))?.status).toMatchObject({ url: 'x' });
    expect(bench.calls().filter(({ name, word }) => name === 'five' && word === 'begin')).toHaveLength(2);
  });
});

describeNeeding(kubernetesMissing(), 'an operator that is started wrongly', () => {
  test('a file with mistakes: all of them, exit status 1', async () => {
    const bench = await openOperatorBench();
    try {
      writeFileSync(join(bench.home, 'watches.yaml'), '- {version: v1, kind: A}\n- {version: v1, playbook: no.yml}\n');
      await expect(bench.start()).rejects.toThrow(/W6(.|\n)*W4|W4(.|\n)*W6/);
    } finally {
      await bench.close();
    }
  });
});
