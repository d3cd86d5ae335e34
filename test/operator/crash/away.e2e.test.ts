/** An operator whose database, Temporal or API server is away, and whose processes are killed: runs go on, or begin anew, and nothing is lost. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pauseResource, resumeResource } from '../../../control/operator/request-of-resource.ts';
import { runPaths } from '../../../drivers/local-runner/run-files.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import { type ClusterWay, openClusterWay } from '../../support/operator/cluster-way.ts';
import {
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { type RunReads, readRuns } from '../../support/operator/run-reads.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startPlainTemporal } from '../../support/temporal/plain-temporal.ts';

/** A statement, and a connection that is made, are given up after so long (ms); the pauses of activities are up to 10 s. */
const BACK_MS = 120_000;
/** So long the database is away where that is longer than the lease of a process (ms). */
const LONG_MS = 60_000;
/** A run that is lost holds its place for a while. */
const ARGS = ['--max-concurrent-reconciles', '4', '--max-concurrent-runs', '4'];

describeNeeding(kubernetesMissing(), 'an operator whose servers go away', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let temporal: Awaited<ReturnType<typeof startPlainTemporal>>;
  let database: TcpProxy;
  let cluster: ClusterWay;
  let env: Record<string, string>;
  let runs: RunReads;
  beforeAll(async () => {
    [bench, temporal] = await Promise.all([
      openOperatorBench({ muster: { backoff: { initial: '1000s' }, run_timeout: '60s' } }),
      startPlainTemporal(),
    ]);
    const url = new URL(bench.databaseUrl);
    database = await openProxy(url.host);
    url.host = database.address;
    cluster = await openClusterWay(bench);
    env = {
      KUBECONFIG: cluster.kubeconfig,
      MUSTER_DATABASE_URL: url.href,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    };
    operator = await bench.start({ env, args: ARGS });
    runs = readRuns(bench, said, BACK_MS);
  }, 600_000);
  afterAll(async () => {
    await bench?.close();
    await database?.cut();
    await cluster?.cut();
    await temporal?.stop();
  });

  const said = () => operator.said().slice(-4_000);
  const isOver = (name: string) =>
    eventually(`nothing of ${name} is open`, async () =>
      (await runs.outcomes(name)).every((one) => !one.endsWith(' null')),
    );
  const isLive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('a database that is away for 3 s: the run goes on, and what changed meanwhile runs once more with the last spec', async () => {
    await bench.create('other', { size: 1 });
    await runs.came('other', ['created ok']);
    await bench.create('short', { seconds: 4 });
    await runs.hasBegun('short');
    await database.cut();
    await bench.change('other', { size: 2 });
    await delay(1_500);
    await bench.change('other', { size: 3 });
    await delay(1_500);
    await database.mend();
    await runs.came('short', ['created ok']);
    await runs.came('other', ['created ok', 'changed ok']);
    await bench.condition('short', 'Successful', 'True');
    expect(runs.begins('short')).toHaveLength(1);
    expect(runs.begins('other').map(({ size }) => size)).toEqual(['1', '3']);
  }, 600_000);

  test('a Temporal that loses its store, and an API server that stalls at the end of the run: the run goes on, once', async () => {
    await bench.create('kept', { gate: 'kept' });
    await runs.hasBegun('kept');
    await temporal.stop();
    temporal = await startPlainTemporal(temporal.port);
    cluster.freeze();
    runs.openGate('kept');
    await eventually('the run has ended', () => runs.ends('kept').length === 1, BACK_MS, said);
    // Longer than one answer is waited for.
    await delay(9_000);
    expect(await runs.outcomes('kept')).toEqual(['created null']);
    cluster.thaw();
    await runs.came('kept', ['created ok']);
    await bench.condition('kept', 'Successful', 'True');
    expect(runs.begins('kept')).toHaveLength(1);
    await bench.create('later', {});
    await runs.came('later', ['created ok']);
  }, 600_000);

  test('a Temporal that loses its store between a pause and its end: nothing runs before, and the last spec runs after', async () => {
    await bench.create('paused', { size: 1 });
    await runs.came('paused', ['created ok']);
    const resource = () =>
      bench.db.selectFrom('operator_resources').selectAll().where('name', '=', 'paused').executeTakeFirstOrThrow();
    const deps = { db: bench.db, clock: () => new Date(), actor: 'ann' };
    await pauseResource(deps, (await resource()).id, null);
    await bench.change('paused', { size: 2 });
    await eventually('the change is known', async () => (await resource()).generation === 2, BACK_MS);
    await temporal.stop();
    temporal = await startPlainTemporal(temporal.port);
    // What is not paused runs, so the new store has all that it needs.
    await bench.create('unpaused', {});
    await runs.came('unpaused', ['created ok']);
    expect(await resource()).toMatchObject({ paused_by: 'ann', reconcile_id: null });
    expect(runs.begins('paused')).toHaveLength(1);
    await resumeResource(deps, (await resource()).id);
    await runs.came('paused', ['created ok', 'changed ok']);
    expect(runs.begins('paused').map(({ size }) => size)).toEqual(['1', '2']);
  }, 600_000);

  test('the process and the processes of its run are killed, in a run', async () => {
    await bench.create('killed', { seconds: 600 });
    await runs.hasBegun('killed');
    const [call] = runs.begins('killed');
    if (call === undefined) throw new Error('nothing has begun');
    await operator.kill();
    const { claim } = runPaths(join(bench.home, '.data', 'operator', 'runs'), call.run);
    const { pid, keeper } = JSON.parse(readFileSync(claim, 'utf8')) as { pid: number; keeper: { pid: number } };
    for (const one of [keeper.pid, pid, call.pid]) process.kill(one, 'SIGKILL');
    expect(conditionsOf(await bench.read('killed')).find(({ type }) => type === 'Running')?.status).toBe('True');
    await bench.change('killed', { seconds: 0 });
    operator = await bench.start({ env, args: ARGS });
    // Temporal misses the process after 30 s, which the next test takes anyhow.
  }, 600_000);

  test('a database that is away for 60 s, which is longer than the lease: the run is ended by then, and another one follows', async () => {
    await bench.create('cut', { seconds: 600, stubborn: true });
    await runs.hasBegun('cut');
    const pids = readFileSync(join(bench.home, 'pids-cut'), 'utf8').split(' ').map(Number);
    expect(pids.filter(isLive)).toEqual(pids);
    const until = Date.now() + LONG_MS;
    await database.cut();
    await bench.create('missed', { size: 1 });
    await bench.change('cut', { seconds: 0, stubborn: false });
    // 15 s without a sign, and some more to end what does not want to; its own limit comes later.
    await eventually('no process of the run is left', () => !pids.some(isLive), 50_000, said);
    expect(await runs.outcomes('cut')).toEqual(['created null']);
    await delay(Math.max(0, until - Date.now()));
    await database.mend();
    await bench.condition('cut', 'Successful', 'True');
    await isOver('cut');
    expect((await runs.outcomes('cut'))[0]).toBe('created interrupted');
    expect(runs.begins('cut')).toHaveLength(2);
    await runs.came('missed', ['created ok']);
    expect(operator.said()).toContain('this process was not heard for too long');
  }, 600_000);

  test('the run whose processes were killed is interrupted, and another one ends, with the last spec', async () => {
    await bench.condition('killed', 'Successful', 'True');
    await isOver('killed');
    expect((await runs.outcomes('killed'))[0]).toBe('created interrupted');
    expect((await runs.outcomes('killed')).at(-1)).toMatch(/ ok$/);
    const row = await bench.db
      .selectFrom('operator_resources')
      .select(['failures', 'interruptions'])
      .where('name', '=', 'killed')
      .executeTakeFirst();
    expect(row).toEqual({ failures: 0, interruptions: 0 });
  }, 600_000);

  test('no resource is left in Running', async () => {
    await runs.isQuiet();
  }, 600_000);
});
