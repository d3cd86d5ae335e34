import { describe, expect, test } from '@jest/globals';
import {
  afterEnds,
  afterKeyEnds,
  FIRST_GLOBAL,
  type GlobalBackOff,
  heldUntil,
  type KeyBackOff,
  seenKey,
  sendingRate,
} from '../../domain/batches/back-off.ts';

const CAP = 3600;
const HOUR = 3600 * 1000;
const seconds = (count: number) => count * 1000;
const failures = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ batch: `b${from + n}`, success: false }));
const success = { batch: 'good', success: true };
const failed20 = afterEnds(FIRST_GLOBAL, failures(20), seconds(30), CAP);

describe('the global back-off', () => {
  test('starts as 20 successes; the twentieth failure in a row makes it 60 s', () => {
    const after19 = afterEnds(FIRST_GLOBAL, failures(19), seconds(20), CAP);
    expect(after19).toMatchObject({ length: 0, probe: null });
    const after20 = afterEnds(after19, failures(1, 19), seconds(30), CAP);
    expect(after20).toMatchObject({ length: 60, start: seconds(30) });
    expect(after20.results).toEqual(Array(20).fill(false));
    expect(heldUntil(after20)).toBe(seconds(90));
  });

  test.each([
    [seconds(30), 'none'],
    [seconds(90) - 1, 'none'],
    [seconds(90), 'probe'],
    [seconds(9000), 'probe'],
  ] as const)('at %i ms the rate is %s', (now, rate) => {
    expect(sendingRate(failed20, now)).toBe(rate);
    expect(sendingRate(FIRST_GLOBAL, now)).toBe('full');
  });

  test('a pass in which nothing ended changes nothing, also when it has run out', () => {
    expect(afterEnds(failed20, [], seconds(1000), CAP)).toBe(failed20);
  });

  test('failures while it holds change nothing but the memory', () => {
    expect(afterEnds(failed20, failures(5), seconds(80), CAP)).toEqual(failed20);
  });

  test('a probe that fails doubles it up to the cap; the lengths are those of cfs-flows 9', () => {
    let state: GlobalBackOff = failed20;
    const lengths = [state.length];
    for (let n = 0; n < 8; n += 1) {
      const now = heldUntil(state) + seconds(7);
      state = afterEnds({ ...state, probe: `p${n}` }, [{ batch: `p${n}`, success: false }], now, CAP);
      expect(state).toMatchObject({ start: now, probe: null });
      lengths.push(state.length);
    }
    expect(lengths).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  test('while a probe is out the failure of another session decides nothing', () => {
    const probing = { ...failed20, probe: 'p' };
    expect(afterEnds(probing, failures(1, 50), seconds(200), CAP)).toEqual(probing);
    const both = afterEnds(probing, [...failures(1, 50), { batch: 'p', success: false }], seconds(200), CAP);
    expect(both).toMatchObject({ length: 120, start: seconds(200), probe: null });
  });

  test.each([
    ['the probe', { batch: 'p', success: true }],
    ['any other session', success],
  ])('the success of %s clears it, and the rate is full again', (_, end) => {
    const cleared = afterEnds({ ...failed20, probe: 'p' }, [end], seconds(200), CAP);
    expect(cleared).toMatchObject({ length: 0, probe: null });
    expect(sendingRate(cleared, seconds(200))).toBe('full');
  });

  test('a success clears it also when 20 failures of the same pass came after it', () => {
    expect(afterEnds(failed20, [success, ...failures(20)], seconds(200), CAP)).toMatchObject({ length: 0 });
  });

  test('without a probe out a failure after it has run out doubles it', () => {
    expect(afterEnds(failed20, failures(1), seconds(90), CAP)).toMatchObject({ length: 120, start: seconds(90) });
  });

  test.each([
    [0, 0],
    [45, 45],
    [60, 60],
    [100, 60],
  ])('with a cap of %i s the first is %i s', (cap, length) => {
    expect(afterEnds(FIRST_GLOBAL, failures(20), 0, cap).length).toBe(length);
  });

  test('the cap may be lowered while it is longer', () => {
    const long = { ...failed20, length: 1920, probe: 'p' };
    expect(afterEnds(long, [{ batch: 'p', success: false }], HOUR, 300).length).toBe(300);
  });
});

describe('the back-off of a key', () => {
  const fresh = seenKey(undefined, 'd', 0);
  const ends = (count: number, desired = 'd') => failures(count).map((end) => ({ ...end, desired }));
  const held: KeyBackOff = afterKeyEnds(fresh, ends(20), seconds(30), CAP);

  test('20 failures in a row hold it for 60 s, over any number of passes', () => {
    let state = fresh;
    for (let n = 0; n < 19; n += 1) state = afterKeyEnds(state, ends(1), seconds(n), CAP);
    expect(state).toMatchObject({ failuresInARow: 19, length: 0 });
    expect(afterKeyEnds(state, ends(1), seconds(30), CAP)).toEqual(held);
    expect(held).toMatchObject({ failuresInARow: 20, length: 60, start: seconds(30) });
  });

  test('a success in between starts the row again', () => {
    const state = afterKeyEnds(afterKeyEnds(fresh, ends(19), 0, CAP), [{ ...success, desired: 'd' }], 1, CAP);
    expect(afterKeyEnds(state, ends(19), 2, CAP)).toMatchObject({ failuresInARow: 19, length: 0 });
  });

  test('its probe doubles or clears it', () => {
    const probing = { ...held, probe: 'p' };
    const failed = afterKeyEnds(probing, [{ batch: 'p', success: false, desired: 'd' }], seconds(95), CAP);
    expect(failed).toMatchObject({ length: 120, start: seconds(95), probe: null });
    const done = afterKeyEnds(probing, [{ batch: 'p', success: true, desired: 'd' }], seconds(95), CAP);
    expect(done).toMatchObject({ length: 0, failuresInARow: 0, probe: null });
  });

  test('sessions of an earlier desired state say nothing', () => {
    expect(afterKeyEnds(fresh, ends(30, 'old'), 0, CAP)).toBe(fresh);
    expect(afterKeyEnds(held, [{ ...success, desired: 'old' }], 0, CAP)).toBe(held);
  });

  test.each<[string, string, number, boolean]>([
    ['seen again', 'd', 10, true],
    ['seen within a day', 'd', 24 * HOUR - 1, true],
    ['not seen for a day', 'd', 24 * HOUR, false],
    ['its configuration changed', 'other', 10, false],
  ])('%s', (_, desired, now, kept) => {
    const state = seenKey({ ...held, lastSeenAt: 0 }, desired, now);
    const expected = kept ? { length: 60, failuresInARow: 20 } : { length: 0, failuresInARow: 0, probe: null };
    expect(state).toMatchObject({ ...expected, desired, lastSeenAt: now });
  });
});
