/** From the request to the moment at which the run's launcher is there. */
import { stat } from 'node:fs/promises';
import { filesOfRun, type MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

export async function measureFirstProcess(
  stack: MusterStack,
  configuration: string,
  limit: string,
): Promise<Measurement> {
  const samples: number[] = [];
  for (let index = 0; index < 20; index += 1) {
    const asked = Date.now();
    const name = await stack.create(`f-${index}-${asked % 1e6}`, configuration, { ansible_limit: limit });
    const { id } = await stack.untilComplete(name);
    const claim = await stat(filesOfRun(stack, `${id}-1-0`).claim);
    samples.push((claim.mtimeMs - asked) / 1000);
  }
  const p50 = quantile(samples, 0.5);
  const p95 = quantile(samples, 0.95);
  return {
    what: 'POST session to first runner process',
    bar: 'p50 <= 0.5 s, p95 <= 1.0 s',
    measured: `p50 ${round(p50)} s, p95 ${round(p95)} s`,
    met: p50 <= 0.5 && p95 <= 1,
    samples: { seconds: samples.map((sample) => round(sample, 3)) },
  };
}
