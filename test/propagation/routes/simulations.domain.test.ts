/** Simulations in a thread of their own. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSimulations, type Simulations } from '../../../api/routes/propagation/simulate-aside.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';

let simulations: Simulations;
beforeEach(() => {
  simulations = openSimulations();
});
afterEach(() => simulations.close());

const bytes = (given: unknown) => Buffer.from(typeof given === 'string' ? given : JSON.stringify(given));
const RING = (size: number) =>
  Array.from({ length: size }, (_, n) => `on r${n}.run changed r${(n + 1) % size}.run`).join('\n');

test('answers what the function answers, several at once', async () => {
  const given = [1, 2, 3].map((size) => ({ staged: ['r0.run'], events: RING(size) }));
  const answers = await Promise.all(given.map((one) => simulations.simulate(bytes(one))));
  expect(answers.map((answer) => JSON.parse(answer.toString()))).toEqual(given.map(simulate));
});

test('hands on what is refused, and works on', async () => {
  const odd = { staged: ['a.run'], events: 'on a.run odd b.run' };
  await expect(simulations.simulate(bytes(odd))).rejects.toMatchObject({
    code: 'event_condition',
    errors: [{ code: 'event_condition', line: 1, column: 10 }],
  });
  await expect(simulations.simulate(bytes('{'))).rejects.toMatchObject({ code: 'body_not_json' });
  await expect(simulations.simulate(bytes({ staged: [], events: '' }))).resolves.toBeDefined();
});

test('gives up what takes too long, and takes the next', async () => {
  const quick = openSimulations({ mostMs: 5 });
  try {
    const late = quick.simulate(bytes({ staged: ['r0.run'], events: RING(20_000) }));
    await expect(late).rejects.toMatchObject({ code: 'graph_too_large', detail: expect.stringContaining('0.005 s') });
  } finally {
    await quick.close();
  }
  await expect(simulations.simulate(bytes({ staged: ['a.run'], events: '' }))).resolves.toBeDefined();
});

test('gives up what takes too much memory, and takes the next', async () => {
  // Time is no limit here: which of the two comes first is a matter of the machine.
  const small = openSimulations({ mostHeap: 24, mostMs: 600_000 });
  try {
    const large = small.simulate(bytes({ staged: ['r0.run'], events: RING(20_000) }));
    await expect(large).rejects.toMatchObject({ code: 'graph_too_large', detail: expect.stringContaining('24 MiB') });
    await expect(small.simulate(bytes({ staged: ['a.run'], events: '' }))).resolves.toBeDefined();
  } finally {
    await small.close();
  }
});

test('does not hold other work', async () => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  await simulations.simulate(bytes({ staged: ['r0.run'], events: RING(10_000) }));
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
});

test('ends its thread when it has nothing to do, and starts another', async () => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const brief = openSimulations({ idleMs: 10, ended: resolve });
  const given = bytes({ staged: ['a.run'], events: '' });
  await brief.simulate(given);
  await ended;
  await expect(brief.simulate(given)).resolves.toBeDefined();
  await brief.close();
});
