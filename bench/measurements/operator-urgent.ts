/** New custom resources among a thousand whose time has come: how soon each starts. */
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorBench } from '../../test/support/operator/operator-process.ts';
import { type Measurement, round } from '../measurement.ts';
import { createMany, noteAsDone, withOperators, writeIdleRunner } from '../operator-place.ts';
import { quantile } from '../statistics.ts';

const COUNT = 1_000;
const ROUNDS = 10;
const BAR_SECONDS = 2;
const LOOK_MS = 10;

export function measureOperatorUrgent(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    const env = { MUSTER_ANSIBLE_RUNNER: await writeIdleRunner(bench) };
    // Its first start says what it watches.
    await (await bench.start({ env })).stop();
    await createMany(
      bench,
      Array.from({ length: COUNT }, (_, index) => `due-${index}`),
    );
    await noteAsDone(bench, 0);
    await bench.start({ env });
    const samples: number[] = [];
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      const name = `new-${turn}`;
      const began = performance.now();
      await bench.create(name, {});
      await untilBegun(bench, name);
      samples.push(round((performance.now() - began) / 1_000, 3));
    }
    const waiting = await countWaiting(bench);
    const last = Math.max(...samples);
    return {
      what: `new custom resource among ${COUNT} whose time has come, to its start`,
      bar: `<= ${BAR_SECONDS} s`,
      measured: `p50 ${round(quantile(samples, 0.5))} s, ${round(last)} s at most, ${waiting} still wait`,
      met: last <= BAR_SECONDS && waiting > 0,
      samples: { seconds: samples },
    };
  });
}

async function untilBegun({ db }: OperatorBench, name: string): Promise<void> {
  for (;;) {
    const begun = await db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select('c.id')
      .where('r.name', '=', name)
      .where('c.told_at', 'is not', null)
      .executeTakeFirst();
    if (begun !== undefined) return;
    await delay(LOOK_MS);
  }
}

/** Resources whose time has come and that have not run yet. */
async function countWaiting({ db }: OperatorBench): Promise<number> {
  const rows = await db
    .selectFrom('operator_resources')
    .select('id')
    .where('due_class', '=', 5)
    .where('due_at', '<=', new Date())
    .execute();
  return rows.length;
}
