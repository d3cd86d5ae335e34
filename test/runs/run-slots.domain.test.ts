import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RunSlots } from '../../drivers/local-runner/run-slots.ts';

const never = new AbortController().signal;

/** Asks for a slot; the answer says whether it was given by now. */
function ask(slots: RunSlots, runId: string, signal = never) {
  const asked = { given: false, refused: false };
  slots.acquire(runId, signal).then(
    () => {
      asked.given = true;
    },
    () => {
      asked.refused = true;
    },
  );
  return asked;
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('slots are given in the order in which they were asked for', async () => {
  const slots = new RunSlots(1);
  const [a, b, c] = ['a', 'b', 'c'].map((runId) => ask(slots, runId));
  await settle();
  expect([a?.given, b?.given, c?.given]).toEqual([true, false, false]);
  expect(slots.full).toBe(true);
  slots.release('a');
  await settle();
  expect([b?.given, c?.given]).toEqual([true, false]);
  slots.release('a');
  await settle();
  expect(c?.given).toBe(false);
  slots.release('b');
  await settle();
  expect(c?.given).toBe(true);
  slots.release('c');
  expect(slots.held).toEqual([]);
});

test('runs that were found count, also one too many', async () => {
  const slots = new RunSlots(1);
  slots.adopt('x');
  slots.adopt('y');
  const waiting = ask(slots, 'a');
  slots.release('x');
  await settle();
  expect([slots.held, waiting.given]).toEqual([['y'], false]);
  slots.release('y');
  await settle();
  expect(waiting.given).toBe(true);
});

test('nobody overtakes those who wait, though a slot is free for a moment', async () => {
  const slots = new RunSlots(1);
  slots.adopt('x');
  const first = ask(slots, 'a');
  slots.release('x');
  const second = ask(slots, 'b');
  await settle();
  expect([first.given, second.given]).toEqual([true, false]);
});

test('one that gives up leaves the line', async () => {
  const slots = new RunSlots(1);
  slots.adopt('x');
  const controller = new AbortController();
  const leaver = ask(slots, 'a', controller.signal);
  const next = ask(slots, 'b');
  controller.abort(new Error('enough'));
  await settle();
  expect(leaver.refused).toBe(true);
  slots.release('x');
  await settle();
  expect(next.given).toBe(true);
  await expect(slots.acquire('c', controller.signal)).rejects.toThrow('enough');
});

test('a run that is asked for twice has one slot, and all who ask for it go on together', async () => {
  const slots = new RunSlots(1);
  slots.adopt('x');
  const asked = [ask(slots, 'a'), ask(slots, 'a'), ask(slots, 'b')];
  slots.release('x');
  await settle();
  expect(asked.map(({ given }) => given)).toEqual([true, true, false]);
  expect(slots.held).toEqual(['a']);
  await slots.acquire('a', never);
  slots.release('a');
  await settle();
  expect([asked[2]?.given, slots.held]).toEqual([true, ['b']]);
});

test('one that is ended while it waits goes on without a slot', async () => {
  const slots = new RunSlots(1);
  slots.adopt('x');
  const asked = ask(slots, 'a');
  slots.release('a');
  await settle();
  expect([asked.given, slots.held]).toEqual([true, ['x']]);
});

test('whatever happens, no more than the limit is given, and a free slot is never kept from one who waits', async () => {
  const step = fc.record({
    what: fc.constantFrom('ask', 'release', 'leave'),
    run: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 30 }), async (limit, steps) => {
      const slots = new RunSlots(limit);
      const asked = new Map<string, { controller: AbortController; state: ReturnType<typeof ask> }>();
      for (const { what, run } of steps) {
        if (what === 'ask' && !asked.has(run)) {
          const controller = new AbortController();
          asked.set(run, { controller, state: ask(slots, run, controller.signal) });
        } else if (what === 'release') {
          slots.release(run);
          asked.delete(run);
        } else if (what === 'leave' && asked.get(run)?.state.given === false) {
          asked.get(run)?.controller.abort();
          asked.delete(run);
        }
        await settle();
        const waiting = [...asked].filter(([, { state }]) => !state.given);
        expect(slots.held.length).toBeLessThanOrEqual(limit);
        expect(waiting.length === 0 || slots.held.length === limit).toBe(true);
        expect(new Set(slots.held)).toEqual(
          new Set([...asked].filter(([, { state }]) => state.given).map(([run]) => run)),
        );
      }
    }),
    { numRuns: 60 },
  );
});
