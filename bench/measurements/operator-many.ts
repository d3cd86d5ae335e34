/** A thousand custom resources whose runs do nothing: how long all of them take, whether any runs twice, and how the process grows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import { conditionsOf, type OperatorBench, WIDGETS } from '../../test/support/operator/operator-process.ts';
import { type Measurement, round } from '../measurement.ts';
import { countOutcomes, createMany, untilIdle, withOperators, writeIdleRunner } from '../operator-place.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const COUNT = 1_000;
const BAR_SECONDS = 240;
/** Longer nothing is waited for, s. */
const MOST_SECONDS = 1_200;
/** The process may grow so much between these runs. */
const [FROM_RUN, TO_RUN] = [100, 500];
const GROWTH = 1.1;

export function measureOperatorMany(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    const operator = await bench.start({ env: { MUSTER_ANSIBLE_RUNNER: await writeIdleRunner(bench) } });
    const pid = operator.process.pid ?? 0;
    const memory = new Map<number, number>();
    const began = performance.now();
    const passed = () => (performance.now() - began) / 1_000;
    const names = Array.from({ length: COUNT }, (_, index) => `many-${index}`);
    const creating = createMany(bench, names);
    for (let ended = 0; ended < COUNT && passed() < MOST_SECONDS; ) {
      await delay(250);
      ended = [...(await countOutcomes(bench)).values()].reduce((sum, count) => sum + count, 0);
      for (const at of [FROM_RUN, TO_RUN, COUNT])
        if (ended >= at && !memory.has(at)) memory.set(at, megabytes(await memoryMiB(pid)));
    }
    await creating;
    const seconds = passed();
    await untilIdle(bench);
    const outcomes = await countOutcomes(bench);
    const successful = await countSuccessful(bench);
    const [early = Number.NaN, late = Number.NaN] = [memory.get(FROM_RUN), memory.get(TO_RUN)];
    const once = outcomes.get('ok') === COUNT && outcomes.size === 1;
    const told = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    return {
      what: `${COUNT} custom resources whose runs do nothing; memory after run ${TO_RUN} and run ${FROM_RUN}`,
      bar: `all Successful in ${BAR_SECONDS} s, none twice; at most ${GROWTH} x`,
      measured: `${successful} Successful in ${round(seconds, 0)} s, ${told}; ${round(late, 0)} MB, ${round(late / early)} x`,
      met: successful === COUNT && once && seconds <= BAR_SECONDS && late <= early * GROWTH,
      samples: { seconds: [round(seconds, 1)], megabytes: [...memory.values()].map((value) => round(value, 1)) },
    };
  });
}

async function countSuccessful({ client }: OperatorBench): Promise<number> {
  const { body } = await client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
  return body.items.filter((item) =>
    conditionsOf(item).some(({ type, status }) => type === 'Successful' && status === 'True'),
  ).length;
}
