/** When a plan cannot go on by itself, and when that is told. */
import { describe, expect, test } from '@jest/globals';
import { type NotedWait, nextWait, waitOf } from '../../../domain/propagation/plan-wait.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);
const NOTHING: NotedWait = { waits_for: null, waits_since: null, waits_told: null };

test.each([
  [[], false, null],
  [[], true, 'lease'],
  [[true], false, 'machine'],
  [[true, true], true, 'machine'],
  [[true, false], true, null],
  [[false], false, null],
] as const)('machines away: %j, waits for a lease: %s -> %s', (away, waitsForLease, wait) => {
  expect(waitOf(away, waitsForLease)).toBe(wait);
});

describe('a wait', () => {
  test('is told once, after five minutes without a break', () => {
    const begun = nextWait(NOTHING, 'lease', at(0));
    expect(begun).toEqual({ waits_for: 'lease', waits_since: at(0), waits_told: null, isToTell: false });
    expect(nextWait(begun, 'lease', at(299)).isToTell).toBe(false);
    const told = nextWait(begun, 'lease', at(300));
    expect(told).toEqual({ waits_for: 'lease', waits_since: at(0), waits_told: ['lease'], isToTell: true });
    expect(nextWait(told, 'lease', at(900)).isToTell).toBe(false);
  });

  test('that was broken begins anew, and one for another reason is told too', () => {
    const begun = nextWait(NOTHING, 'lease', at(0));
    const gone = nextWait(begun, null, at(200));
    expect(gone).toEqual({ ...NOTHING, isToTell: false });
    const again = nextWait(gone, 'lease', at(250));
    expect(nextWait(again, 'lease', at(400)).isToTell).toBe(false);
    const told = nextWait(again, 'lease', at(550));
    const other = nextWait(told, 'machine', at(600));
    expect(other).toMatchObject({ waits_for: 'machine', waits_since: at(600), isToTell: false });
    expect(nextWait(other, 'machine', at(900))).toMatchObject({ waits_told: ['lease', 'machine'], isToTell: true });
  });
});
