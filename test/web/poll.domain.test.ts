/** The rules of a page without shared workers, with a clock and a network of the test's. */
import { describe, expect, test } from '@jest/globals';
import { createPoll } from '../../web/src/shared/live/poll-core.ts';
import type { Connection } from '../../web/src/shared/live/protocol.ts';

/** A page with its surroundings: time passes when the test says so. */
function bench() {
  let now = 1_000_000;
  let answer: 'known' | 'unknown' | 'none' = 'known';
  const asked: number[] = [];
  const heard: Connection[] = [];
  const told = { changed: 0, unknown: 0 };
  const poll = createPoll({
    now: () => now,
    ask: async () => {
      asked.push(now);
      if (answer === 'none') throw new Error('no answer');
      return answer === 'known';
    },
    connected: (connection) => void heard.push(connection),
    changed: () => void told.changed++,
    unknown: () => void told.unknown++,
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ...{ asked, heard, told },
    state: () => heard.at(-1)?.state,
    states: () => heard.map(({ state }) => state),
    set: (given: typeof answer) => {
      answer = given;
    },
    seen: async () => {
      poll.seen();
      await settle();
    },
    /** Lets seconds pass in which the page is seen. */
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        now += 1_000;
        poll.tick();
        await settle();
      }
    },
    hide: (seconds: number) => {
      now += seconds * 1_000;
    },
  };
}

describe('a page that polls', () => {
  test('asks at once and every 10 s, and reads everything again', async () => {
    const { seen, pass, asked, told, states } = bench();
    await seen();
    await pass(25);
    expect(asked.map((at) => at - 1_000_000)).toEqual([0, 10_000, 20_000]);
    expect(told).toEqual({ changed: 3, unknown: 0 });
    expect(new Set(states())).toEqual(new Set(['live']));
  });

  test('is stale within 16 s of the last answer, no sooner than after 15 s, and live within 10 s of the return', async () => {
    const { seen, pass, set, state, states, heard, told } = bench();
    await seen();
    set('none');
    await pass(9);
    expect(state()).toBe('live');
    await pass(6);
    expect(state()).toBe('reconnecting');
    await pass(1);
    expect(state()).toBe('stale');
    await pass(60);
    expect(states().filter((word) => word === 'stale')).toHaveLength(1);
    expect(heard.at(-1)?.lastByteAt).toBe(1_000_000);
    const before = told.changed;
    set('known');
    await pass(9);
    expect([state(), told.changed]).toEqual(['live', before + 1]);
  });

  test('is stale too where nothing has ever answered', async () => {
    const { seen, pass, set, states } = bench();
    set('none');
    await seen();
    await pass(16);
    expect(states()).toEqual(['stale']);
  });

  test('is not stale because it asked nothing while it was hidden, and catches up when it is seen', async () => {
    const { seen, pass, hide, set, states, asked, state } = bench();
    await seen();
    hide(600);
    await seen();
    await pass(1);
    expect([states().includes('stale'), asked.length]).toEqual([false, 2]);
    hide(600);
    set('none');
    await seen();
    await pass(15);
    expect(state()).toBe('reconnecting');
    await pass(1);
    expect(state()).toBe('stale');
  });

  test('hears that it is not known any more, which is an answer', async () => {
    const { seen, pass, set, told, state } = bench();
    await seen();
    set('unknown');
    await pass(10);
    expect([told, state()]).toEqual([{ changed: 1, unknown: 1 }, 'live']);
  });
});
