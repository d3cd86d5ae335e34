/** Two processes of one operator over a hundred resources, one of which is cut off and the other killed: none runs beside itself, none is lost. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  type Call,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';

const MANY = 100;
const AT_ONCE = 4;
/** Of one process, so that one alone cannot take all places. */
const OF_ONE = 3;
const SOON_MS = 180_000;
/** With the time between two signs of a process, and until the next one is taken, shorter than its lease. */
const AWAY_MS = 3_000;

describeNeeding(kubernetesMissing(), 'two processes of an operator', () => {
  let bench: OperatorBench;
  let database: TcpProxy;
  let cutOff: RunningOperator;
  let killed: RunningOperator;
  const args = ['--max-concurrent-reconciles', String(AT_ONCE), '--max-concurrent-runs', String(OF_ONE)];
  const another = () => bench.start({ args, data: join(bench.home, '.data-2') });
  beforeAll(async () => {
    bench = await openOperatorBench();
    const url = new URL(bench.databaseUrl);
    database = await openProxy(url.host);
    url.host = database.address;
    cutOff = await bench.start({ args, env: { MUSTER_DATABASE_URL: url.href } });
    killed = await another();
  }, 600_000);
  afterAll(async () => {
    await bench?.close();
    await database?.cut();
  });

  const words = (word: Call['word']) => bench.calls().filter((call) => call.word === word);
  const ended = (count: number) =>
    eventually(
      `${count} runs have ended`,
      () => words('end').length >= count,
      SOON_MS,
      () => [cutOff.said().slice(-2_000), killed.said().slice(-2_000)],
    );
  const records = () =>
    bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select(['r.name', 'c.outcome', 'c.machine'])
      .execute();

  test('work off a hundred resources, each once, never more at a time than the limit of their kind', async () => {
    const names = Array.from({ length: MANY }, (_, index) => `many-${index}`);
    for (let at = 0; at < MANY; at += 10)
      await Promise.all(names.slice(at, at + 10).map((name) => bench.create(name, { seconds: 0.3 })));
    await ended(15);
    await database.cut();
    await delay(AWAY_MS);
    await database.mend();
    await ended(50);
    await killed.kill();
    killed = await another();
    await ended(MANY);
    await eventually(
      'all are over',
      async () => {
        const all = await records();
        return all.length >= MANY && all.every(({ outcome }) => outcome !== null);
      },
      SOON_MS,
      records,
    );
    const all = await records();
    expect(
      all
        .filter(({ outcome }) => outcome === 'ok')
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...names].sort());
    expect(new Set(all.map(({ machine }) => machine)).size).toBe(2);
    // Each record has run once: also where its process was killed or cut off.
    expect(
      words('begin')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(all.map(({ name }) => name).sort());
    expect(words('end')).toHaveLength(all.length);
    const open = new Set<string>();
    let most = 0;
    for (const { word, name } of bench.calls().sort((one, other) => one.at - other.at)) {
      expect([name, word, open.has(name)]).toEqual([name, word, word === 'end']);
      if (word === 'begin') open.add(name);
      else open.delete(name);
      most = Math.max(most, open.size);
    }
    expect(most).toBeLessThanOrEqual(AT_ONCE);
  }, 900_000);
});
