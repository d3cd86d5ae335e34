/** The start of an operator that has thousands of custom resources, all of which are done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorBench, RunningOperator } from '../../test/support/operator/operator-process.ts';
import { type Measurement, round } from '../measurement.ts';
import { createMany, noteAsDone, withOperators } from '../operator-place.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const COUNT = 5_000;
const BAR_SECONDS = 10;
const BAR_MB = 60;
/** What a start leaves for later is done by then, ms. */
const SETTLE_MS = 15_000;

export function measureOperatorRestart(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    const empty = await started(bench);
    await createMany(
      bench,
      Array.from({ length: COUNT }, (_, index) => `many-${index}`),
    );
    await noteAsDone(bench);
    const full = await started(bench);
    const runs = await bench.db.selectFrom('operator_reconciles').select('id').execute();
    const more = full.megabytes - empty.megabytes;
    return {
      what: `start of an operator with ${COUNT} custom resources that are done`,
      bar: `ready in ${BAR_SECONDS} s without a run, + ${BAR_MB} MB`,
      measured: `${round(full.seconds, 1)} s, ${runs.length} runs, ${round(empty.megabytes, 0)} MB + ${round(more, 0)} MB`,
      met: full.seconds <= BAR_SECONDS && runs.length === 0 && more <= BAR_MB,
      samples: {
        seconds: [empty.seconds, full.seconds].map((value) => round(value, 2)),
        megabytes: [empty.megabytes, full.megabytes].map((value) => round(value, 1)),
      },
    };
  });
}

/** Starts the operator, and stops it again; returns after how long (s) it was ready, and what it takes then. */
async function started(bench: OperatorBench): Promise<{ seconds: number; megabytes: number }> {
  const began = performance.now();
  const operator: RunningOperator = await bench.start();
  const seconds = (performance.now() - began) / 1_000;
  await delay(SETTLE_MS);
  const used = megabytes(await memoryMiB(operator.process.pid ?? 0));
  await operator.stop();
  return { seconds, megabytes: used };
}
