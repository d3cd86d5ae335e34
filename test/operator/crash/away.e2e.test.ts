/** An operator whose database, Temporal or API server is away, and whose processes are killed: runs go on, or begin anew, and nothing is lost. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runPaths } from '../../../drivers/local-runner/run-files.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startPlainTemporal } from '../../support/temporal/plain-temporal.ts';

/** A statement, and a connection that is made, are given up after so long (ms); the pauses of activities are up to 10 s. */
const BACK_MS = 60_000;
/** A run that is lost holds its place for a while. */
const ARGS = ['--max-concurrent-reconciles', '4', '--max-concurrent-runs', '4'];

describeNeeding(kubernetesMissing(), 'an operator whose servers go away', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let temporal: Awaited<ReturnType<typeof startPlainTemporal>>;
  let database: TcpProxy;
  let cluster: TcpProxy;
  let env: Record<string, string>;
  beforeAll(async () => {
    [bench, temporal] = await Promise.all([
      openOperatorBench({ muster: { backoff: { initial: '1000s' }, run_timeout: '60s' } }),
      startPlainTemporal(),
    ]);
    const url = new URL(bench.databaseUrl);
    database = await openProxy(url.host);
    url.host = database.address;
    const kubeconfig = readFileSync(bench.api.kubeconfig, 'utf8');
    const server = /https:\/\/(127\.0\.0\.1:\d+)/.exec(kubeconfig)?.[1];
    if (server === undefined) throw new Error('no address of the API server');
    cluster = await openProxy(server);
    const path = join(bench.home, 'kubeconfig');
    writeFileSync(path, kubeconfig.replaceAll(server, cluster.address), { mode: 0o600 });
    env = {
      KUBECONFIG: path,
      MUSTER_DATABASE_URL: url.href,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    };
    operator = await bench.start({ env, args: ARGS });
  }, 240_000);
  afterAll(async () => {
    await bench?.close();
    await database?.cut();
    await cluster?.cut();
    await temporal?.stop();
  });

  const begins = (name: string) => bench.calls().filter((call) => call.word === 'begin' && call.name === name);
  const ends = (name: string) => bench.calls().filter((call) => call.word === 'end' && call.name === name);
  const said = () => operator.said().slice(-4_000);
  const hasBegun = (name: string, times = 1) =>
    eventually(`run ${times} of ${name} has begun`, () => begins(name).length === times, BACK_MS, said);
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
  const came = (name: string, to: string[]) =>
    eventually(
      `${name} came to ${to}`,
      async () => (await outcomes(name)).join() === to.join(),
      BACK_MS,
      async () => ({ outcomes: await outcomes(name), said: said() }),
    );
  const isOver = (name: string) =>
    eventually(`nothing of ${name} is open`, async () => (await outcomes(name)).every((one) => !one.endsWith(' null')));
  const isLive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('a database that is away for 5 s: the run goes on, and what changed meanwhile runs once more with the last spec', async () => {
    await bench.create('other', { size: 1 });
    await came('other', ['created ok']);
    await bench.create('short', { seconds: 4 });
    await hasBegun('short');
    await database.cut();
    await bench.change('other', { size: 2 });
    await delay(2_500);
    await bench.change('other', { size: 3 });
    await delay(2_500);
    await database.mend();
    await came('short', ['created ok']);
    await came('other', ['created ok', 'changed ok']);
    await bench.condition('short', 'Successful', 'True');
    expect(begins('short')).toHaveLength(1);
    expect(begins('other').map(({ size }) => size)).toEqual(['1', '3']);
  }, 120_000);

  test('a Temporal that loses its store, and an API server that stalls at the end of the run: the run goes on, once', async () => {
    await bench.create('kept', { seconds: 5 });
    await hasBegun('kept');
    await temporal.stop();
    temporal = await startPlainTemporal(temporal.port);
    cluster.freeze();
    await eventually('the run has ended', () => ends('kept').length === 1, BACK_MS, said);
    // Longer than one answer is waited for.
    await delay(9_000);
    expect(await outcomes('kept')).toEqual(['created null']);
    cluster.thaw();
    await came('kept', ['created ok']);
    await bench.condition('kept', 'Successful', 'True');
    expect(begins('kept')).toHaveLength(1);
    await bench.create('later', {});
    await came('later', ['created ok']);
  }, 120_000);

  test('the process and the processes of its run are killed, in a run', async () => {
    await bench.create('killed', { seconds: 600 });
    await hasBegun('killed');
    const [call] = begins('killed');
    if (call === undefined) throw new Error('nothing has begun');
    await operator.kill();
    const { claim } = runPaths(join(bench.home, '.data', 'operator', 'runs'), call.run);
    const { pid, keeper } = JSON.parse(readFileSync(claim, 'utf8')) as { pid: number; keeper: { pid: number } };
    for (const one of [keeper.pid, pid, call.pid]) process.kill(one, 'SIGKILL');
    expect(conditionsOf(await bench.read('killed')).find(({ type }) => type === 'Running')?.status).toBe('True');
    await bench.change('killed', { seconds: 0 });
    operator = await bench.start({ env, args: ARGS });
    // Temporal misses the process after 30 s, which the next test takes anyhow.
  }, 120_000);

  test('a database that is away for longer than the lease: the run is ended by then, and another one follows', async () => {
    await bench.create('cut', { seconds: 600, stubborn: true });
    await hasBegun('cut');
    const pids = readFileSync(join(bench.home, 'pids-cut'), 'utf8').split(' ').map(Number);
    expect(pids.filter(isLive)).toEqual(pids);
    await database.cut();
    await bench.change('cut', { seconds: 0, stubborn: false });
    // 15 s without a sign, and up to 10 s to end what does not want to.
    await eventually('no process of the run is left', () => !pids.some(isLive), 28_000, said);
    expect(await outcomes('cut')).toEqual(['created null']);
    await database.mend();
    await bench.condition('cut', 'Successful', 'True');
    await isOver('cut');
    expect((await outcomes('cut'))[0]).toBe('created interrupted');
    expect(begins('cut')).toHaveLength(2);
    expect(operator.said()).toContain('this process was not heard for too long');
  }, 120_000);

  test('the run whose processes were killed is interrupted, and another one ends, with the last spec', async () => {
    await bench.condition('killed', 'Successful', 'True');
    await isOver('killed');
    expect((await outcomes('killed'))[0]).toBe('created interrupted');
    expect((await outcomes('killed')).at(-1)).toMatch(/ ok$/);
    const row = await bench.db
      .selectFrom('operator_resources')
      .select(['failures', 'interruptions'])
      .where('name', '=', 'killed')
      .executeTakeFirst();
    expect(row).toEqual({ failures: 0, interruptions: 0 });
  }, 120_000);
});
