/** Many resources of an operator: none twice, none forgotten, whatever happens to its process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  conditionsOf,
  GROUP,
  makeKind,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** On a busy machine a run of Python takes its time (ms). */
const SOON_MS = 180_000;

const MANY = 50;
const AT_ONCE = 4;
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describeNeeding(kubernetesMissing(), 'many resources', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  const args = ['--max-concurrent-reconciles', String(AT_ONCE)];
  beforeAll(async () => {
    bench = await openOperatorBench();
    const watch = { group: GROUP, version: 'v1', playbook: 'playbook.yml', markUnsafe: true };
    // A kind that the cluster does not know yet stops no other.
    const watches = ['Gadget', 'Widget'].map((kind) => ({ ...watch, kind }));
    writeFileSync(join(bench.home, 'watches.yaml'), JSON.stringify(watches));
    for (const name of names('early', MANY / 2)) await bench.create(name, {});
    operator = await bench.start({ args });
  }, 600_000);
  afterAll(() => bench?.close());

  /** Lets runs go on whose spec names this gate. */
  const openGate = (gate: string) => writeFileSync(join(bench.home, `gate-${gate}`), '');
  const isDone = async (name: string) =>
    conditionsOf(await bench.read(name)).some(({ type, status }) => type === 'Successful' && status === 'True');
  const allDone = (list: readonly string[]) =>
    eventually(
      `${list.length} resources are done`,
      async () => (await Promise.all(list.map(isDone))).every(Boolean),
      SOON_MS,
      () => operator.said().slice(-2_000),
    );
  const begins = (name?: string) =>
    bench.calls().filter((call) => call.word === 'begin' && (name === undefined || call.name === name));
  const idle = () =>
    eventually(
      'nothing is due and nothing runs',
      async () => {
        const open = await bench.db
          .selectFrom('operator_resources')
          .select('id')
          .where((is) => is.or([is('reconcile_id', 'is not', null), is('due_at', '<=', new Date())]))
          .execute();
        return open.length === 0;
      },
      SOON_MS,
    );

  test('each runs once, and never more of a kind than its limit at the same time', async () => {
    const late = names('late', MANY / 2);
    for (const name of late) await bench.create(name, {});
    const all = [...names('early', MANY / 2), ...late];
    await allDone(all);
    await idle();
    expect(
      begins()
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...all].sort());
    let running = 0;
    let most = 0;
    for (const { word } of bench.calls().sort((one, other) => one.at - other.at)) {
      running += word === 'begin' ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(most).toBeLessThanOrEqual(AT_ONCE);
  }, 600_000);

  test('a start runs none of them again, but what has changed meanwhile', async () => {
    expect(await operator.stop()).toBe(0);
    const before = begins().length;
    await bench.change('late-0', { size: 7 });
    operator = await bench.start({ args });
    await eventually('the change ran', () => begins('late-0').length === 2, SOON_MS);
    await idle();
    expect(begins()).toHaveLength(before + 1);
  }, 600_000);

  test('fifty changes within a run lead to one more run, with the last spec', async () => {
    await bench.create('edited', { gate: 'edited', size: 0 });
    await eventually('its run has begun', () => begins('edited').length === 1, SOON_MS);
    for (let size = 1; size <= 50; size += 1) await bench.change('edited', { size });
    openGate('edited');
    await eventually('one more run', () => begins('edited').length === 2, SOON_MS);
    await idle();
    expect(begins('edited').map(({ size }) => size)).toEqual(['0', '50']);
  }, 600_000);

  test('a resource that is made again during a run of the one before is another one', async () => {
    const first = await bench.create('again', { gate: 'again', size: 1 });
    await eventually('its run has begun', () => begins('again').length === 1, SOON_MS);
    await bench.remove('again');
    const second = await bench.create('again', { size: 2 });
    openGate('again');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await bench.condition('again', 'Successful', 'True');
    await idle();
    expect(begins('again').map(({ size }) => size)).toEqual(['1', '2']);
    const rows = await bench.db.selectFrom('operator_resources').selectAll().where('name', '=', 'again').execute();
    expect(rows.map(({ uid, phase }) => [uid, phase])).toEqual(
      expect.arrayContaining([
        [first.metadata.uid, 'gone'],
        [second.metadata.uid, 'waiting'],
      ]),
    );
    const ended = await bench.db
      .selectFrom('operator_reconciles')
      .select('outcome')
      .where('outcome', '=', 'gone')
      .execute();
    expect(ended).toHaveLength(1);
  }, 600_000);

  test('a resource that is deleted and made again 20 times: each status belongs to its uid, and none runs twice', async () => {
    const TIMES = 20;
    const uids: string[] = [];
    for (let size = 1; size <= TIMES; size += 1) {
      const made = await bench.create('often', { size, seconds: 0.5, stats: { ok: size } });
      uids.push(made.metadata.uid);
      const hasBegun = () => begins('often').some((call) => call.size === String(size));
      // Some are deleted in their run, others before it or at its begin.
      if (size % 2 === 0) await eventually('its run has begun', hasBegun, SOON_MS);
      if (size % 4 === 0) await bench.condition('often', 'Successful', 'True');
      const results = conditionsOf(await bench.read('often')).flatMap(({ ansibleResult }) => ansibleResult?.ok ?? []);
      expect(results.filter((ok) => ok !== size)).toEqual([]);
      if (size < TIMES) await bench.remove('often');
    }
    await idle();
    const rows = await bench.db
      .selectFrom('operator_resources')
      .select(['uid', 'phase'])
      .where('name', '=', 'often')
      .execute();
    expect(rows.filter(({ phase }) => phase !== 'gone')).toEqual([{ uid: uids.at(-1), phase: 'waiting' }]);
    expect(rows.filter(({ uid }) => !uids.includes(uid))).toEqual([]);
    const sizes = begins('often').map(({ size }) => size);
    expect(sizes).toEqual([...new Set(sizes)]);
    // The run of the former one may begin behind it.
    expect(sizes).toContain(String(TIMES));
  }, 600_000);

  test('a process that is killed in a run: the next one finds the run, and it ran once', async () => {
    await bench.create('killed', { gate: 'killed' });
    await eventually('its run has begun', () => begins('killed').length === 1, SOON_MS);
    await operator.kill();
    operator = await bench.start({ args });
    openGate('killed');
    await bench.condition('killed', 'Successful', 'True');
    await idle();
    expect(begins('killed')).toHaveLength(1);
  }, 600_000);

  test('a kind that comes later is watched then', async () => {
    const state = () =>
      bench.db
        .selectFrom('operator_watches')
        .select(['state', 'reason'])
        .where('kind', '=', 'Gadget')
        .executeTakeFirst();
    expect(await state()).toMatchObject({ state: 'missing' });
    await makeKind(bench.client, 'Gadget');
    await eventually('it is watched', async () => (await state())?.state === 'watching', SOON_MS);
    const body = { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'g' }, spec: {} };
    await bench.client.ask({ method: 'POST', path: `/apis/${GROUP}/v1/namespaces/default/gadgets`, body });
    await eventually('it runs', () => begins('g').length === 1, SOON_MS);
  }, 600_000);

  test('a kind that goes stops no other, and is watched again when it comes back', async () => {
    const state = async () =>
      (await bench.db.selectFrom('operator_watches').select('state').where('kind', '=', 'Gadget').executeTakeFirst())
        ?.state;
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.${GROUP}`;
    await bench.client.ask({ method: 'DELETE', path });
    await eventually(
      'it is gone',
      async () => (await bench.client.ask({ method: 'GET', path, expected: [404] })).status === 404,
      SOON_MS,
    );
    await eventually(
      'its watch has the reason',
      async () => (await state()) === 'missing',
      SOON_MS,
      () => operator.said().slice(-2_000),
    );
    await bench.create('meanwhile', {});
    await bench.condition('meanwhile', 'Successful', 'True');
    const row = await bench.db.selectFrom('operator_resources').select('phase').where('name', '=', 'g').execute();
    expect(row).toEqual([{ phase: 'gone' }]);
    await makeKind(bench.client, 'Gadget');
    await eventually('it is watched again', async () => (await state()) === 'watching', SOON_MS);
    const body = { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'h' }, spec: {} };
    await bench.client.ask({ method: 'POST', path: `/apis/${GROUP}/v1/namespaces/default/gadgets`, body });
    await eventually('it runs', () => begins('h').length === 1, SOON_MS);
  }, 600_000);
});
