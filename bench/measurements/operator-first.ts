/** From the change of a custom resource to the moment at which the launcher of its run is there. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runPaths } from '../../drivers/local-runner/run-files.ts';
import { eventually } from '../../test/support/eventually.ts';
import { type Measurement, round } from '../measurement.ts';
import { untilIdle, untilSuccessful, withOperators } from '../operator-place.ts';
import { quantile } from '../statistics.ts';

const ROUNDS = 20;

export function measureOperatorFirst(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    await bench.start();
    await bench.create('w', {});
    await untilSuccessful(bench, 'w');
    const samples: number[] = [];
    for (let size = 1; size <= ROUNDS; size += 1) {
      await untilIdle(bench);
      const asked = Date.now();
      await bench.change('w', { size });
      const begins = () => bench.calls().filter(({ word }) => word === 'begin');
      const call = await eventually('its run has begun', () => begins().find((one) => one.size === String(size)));
      const { claim } = runPaths(join(bench.home, '.data', 'operator', 'runs'), call.run);
      samples.push(((await stat(claim)).mtimeMs - asked) / 1_000);
    }
    const p50 = quantile(samples, 0.5);
    return {
      what: 'change of a custom resource to first runner process',
      bar: 'p50 <= 0.5 s',
      measured: `p50 ${round(p50)} s, p95 ${round(quantile(samples, 0.95))} s`,
      met: p50 <= 0.5,
      samples: { seconds: samples.map((sample) => round(sample, 3)) },
    };
  });
}
