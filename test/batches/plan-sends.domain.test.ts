import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type BackOff, NO_BACK_OFF } from '../../domain/batches/back-off.ts';
import {
  type DueBatch,
  type PlanFacts,
  planSends,
  WAITING_SESSIONS_MAX,
  type WhyNot,
} from '../../domain/batches/plan-sends.ts';

const NOW = 1_000_000;
const FACTS: PlanFacts = {
  now: NOW,
  disabled: false,
  paused: false,
  window: 60,
  sizeOf: () => 25,
  waiting: 0,
  out: new Set(),
  backOff: NO_BACK_OFF,
  keys: new Map(),
  holds: new Map(),
  rollouts: new Map(),
};
/** As old as given in seconds. */
const batch = (id: string, age: number, change: Partial<DueBatch> = {}): DueBatch => ({
  id,
  key: 'A:0:',
  configuration: 'A',
  layers: '0',
  members: 5,
  openedAt: NOW - age * 1000,
  leased: 0,
  ...change,
});
const HELD = { length: 60, start: NOW - 10_000, probe: null };
const RUN_OUT = { length: 60, start: NOW - 60_000, probe: null };

describe('one batch', () => {
  test.each<[string, DueBatch, Partial<PlanFacts>, WhyNot | null, number | null]>([
    ['older than the window', batch('a', 60.001), {}, null, null],
    ['as old as the window', batch('a', 60), {}, 'window', NOW + 1],
    ['younger', batch('a', 20), {}, 'window', NOW + 40_001],
    ['young and full', batch('a', 0, { members: 25 }), {}, null, null],
    ['young and full by the size of its configuration', batch('a', 0), { sizeOf: () => 5 }, null, null],
    ['young with a window of 0', batch('a', 0), { window: 0 }, 'window', NOW + 1],
    ['a millisecond old with a window of 0', batch('a', 0.001), { window: 0 }, null, null],
    ['the batcher is disabled', batch('a', 99), { disabled: true }, 'disabled', null],
    ['everything is paused', batch('a', 99), { paused: true }, 'paused', null],
    ['its key is paused', batch('a', 99), { keys: keyed({ ...NO_BACK_OFF, paused: true }) }, 'paused', null],
    ['held back', batch('a', 99), { backOff: HELD }, 'backoff', NOW + 50_000],
    ['held back and not due', batch('a', 20), { backOff: HELD }, 'window', NOW + 40_001],
    ['a probe is out', batch('a', 99), { backOff: { ...RUN_OUT, probe: 'p' }, out: new Set(['p']) }, 'probe', null],
    ['the probe is lost', batch('a', 99), { backOff: { ...RUN_OUT, probe: 'p' } }, null, null],
    ['its key held back', batch('a', 99), { keys: keyed({ ...HELD, paused: false }) }, 'key_backoff', NOW + 50_000],
    ['its key run out', batch('a', 99), { keys: keyed({ ...RUN_OUT, paused: false }) }, null, null],
    [
      "its key's probe is out",
      batch('a', 99),
      { keys: keyed({ ...RUN_OUT, probe: 'p', paused: false }), out: new Set(['p']) },
      'key_backoff',
      null,
    ],
    ['held by a fault', batch('a', 99), { holds: heldBy(HELD) }, 'controller', NOW + 50_000],
    ['held by a fault and not due', batch('a', 0), { holds: heldBy(HELD) }, 'controller', NOW + 50_000],
    ['its fault is to be tried again, whatever its window', batch('a', 0), { holds: heldBy(RUN_OUT) }, null, null],
    ['another key is held by a fault', batch('a', 99, { key: 'B:0:' }), { holds: heldBy(HELD) }, null, null],
    [
      'held by a fault that another batch tries',
      batch('a', 99),
      { holds: heldBy({ ...RUN_OUT, probe: 'p' }), out: new Set(['p']) },
      'controller',
      null,
    ],
    [
      'held by a fault whose try came to nothing',
      batch('a', 99),
      { holds: heldBy({ ...RUN_OUT, probe: 'p' }) },
      null,
      null,
    ],
    ['others have some members', batch('a', 99, { leased: 4 }), {}, null, null],
    ['others have all members', batch('a', 99, { leased: 5 }), {}, 'lease', null],
    ['its rollout has room', batch('a', 99), { rollouts: new Map([['A', 5]]) }, null, null],
    ['its rollout has too little room', batch('a', 99), { rollouts: new Map([['A', 4]]) }, 'rollout', null],
    ['another rollout is stopped', batch('a', 99), { rollouts: new Map([['B', 0]]) }, null, null],
    ['enough sessions wait', batch('a', 99), { waiting: WAITING_SESSIONS_MAX }, 'queue', null],
    ['one more may wait', batch('a', 99), { waiting: WAITING_SESSIONS_MAX - 1 }, null, null],
  ])('%s', (_, one, facts, why, until) => {
    const plan = planSends([one], { ...FACTS, ...facts });
    expect(plan.waits).toEqual(why === null ? [] : [{ batch: 'a', why, until }]);
    expect(plan.sends.map((send) => send.batch)).toEqual(why === null ? ['a'] : []);
    expect(plan.nextAt).toBe(until);
  });
});

describe('several batches', () => {
  test('go oldest first, equal ages by id', () => {
    expect(sent([batch('c', 70), batch('b', 90), batch('a', 70)], {})).toEqual(['b', 'a', 'c']);
  });

  test('the next instant is the earliest', () => {
    const keys = keyed({ ...HELD, paused: false });
    const plan = planSends([batch('a', 99), batch('b', 20, { key: 'B:0:' })], { ...FACTS, keys });
    expect(plan.nextAt).toBe(NOW + 40_001);
  });

  test('the probe is the oldest due batch alone; the others wait for its end', () => {
    const plan = planSends([batch('a', 20), batch('b', 70), batch('c', 90)], { ...FACTS, backOff: RUN_OUT });
    expect(plan.sends).toEqual([{ batch: 'c', probe: true, keyProbe: false, holdProbe: false }]);
    expect(plan.waits).toEqual([
      { batch: 'b', why: 'probe', until: null },
      { batch: 'a', why: 'window', until: NOW + 40_001 },
    ]);
  });

  test('the probe of all passes over keys that are held back and rollouts without room', () => {
    const facts = {
      backOff: RUN_OUT,
      keys: keyed({ ...HELD, paused: false }),
      rollouts: new Map([['B', 0]]),
    };
    const other = { key: 'B:0:', configuration: 'B' };
    const third = { key: 'C:0:', configuration: 'C' };
    expect(sent([batch('a', 99), batch('b', 90, other), batch('c', 80, third)], facts)).toEqual(['c']);
  });

  test('one batch may be the probe of both', () => {
    const plan = planSends([batch('a', 99), batch('b', 90)], {
      ...FACTS,
      backOff: RUN_OUT,
      keys: keyed({ ...RUN_OUT, paused: false }),
    });
    expect(plan.sends).toEqual([{ batch: 'a', probe: true, keyProbe: true, holdProbe: false }]);
  });

  test("a key's probe goes alone, other keys at their full rate", () => {
    const keys = keyed({ ...RUN_OUT, paused: false });
    const plan = planSends([batch('a', 99), batch('b', 90), batch('c', 80, { key: 'B:0:' })], { ...FACTS, keys });
    expect(plan.sends).toEqual([
      { batch: 'a', probe: false, keyProbe: true, holdProbe: false },
      { batch: 'c', probe: false, keyProbe: false, holdProbe: false },
    ]);
    expect(plan.waits).toEqual([{ batch: 'b', why: 'key_backoff', until: null }]);
  });

  test('of a key that a fault held one batch is tried alone, young or not', () => {
    const plan = planSends([batch('a', 99), batch('b', 90), batch('c', 0, { key: 'B:0:' })], {
      ...FACTS,
      holds: new Map([...heldBy(RUN_OUT), ['B:0:', RUN_OUT]]),
    });
    expect(plan.sends).toEqual([
      { batch: 'a', probe: false, keyProbe: false, holdProbe: true },
      { batch: 'c', probe: false, keyProbe: false, holdProbe: true },
    ]);
    expect(plan.waits).toEqual([{ batch: 'b', why: 'controller', until: null }]);
  });

  test('a rollout gives its room to the oldest, and nobody younger overtakes one that does not fit', () => {
    const facts = { rollouts: new Map([['A', 12]]) };
    const batches = [batch('a', 99), batch('b', 90, { members: 8 }), batch('c', 80, { members: 1 })];
    expect(sent(batches, facts)).toEqual(['a']);
  });

  test('only so many wait for a slot', () => {
    const batches = Array.from({ length: 70 }, (_, n) => batch(`b${n}`, 100 + n));
    const plan = planSends(batches, { ...FACTS, waiting: 20 });
    expect(plan.sends).toHaveLength(WAITING_SESSIONS_MAX - 20);
    expect(plan.waits.every(({ why }) => why === 'queue')).toBe(true);
    expect(plan.sends[0]?.batch).toBe('b69');
  });

  test('every batch is sent or has its reason, and nothing that waits on an event has an instant', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 1, max: 25 }), fc.nat({ max: 3 }))),
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom(NO_BACK_OFF, HELD, RUN_OUT),
        fc.option(fc.nat({ max: 60 })),
        (ages, waiting, backOff, room) => {
          const batches = ages.map(([age, members, key], n) => batch(`b${n}`, age, { members, key: `A:${key}:` }));
          const rollouts = new Map(room === null ? [] : [['A', room]]);
          const plan = planSends(batches, { ...FACTS, waiting, backOff, rollouts });
          const decided = [...plan.sends, ...plan.waits].map((one) => one.batch);
          expect(decided.sort()).toEqual(batches.map(({ id }) => id).sort());
          expect(plan.sends.length).toBeLessThanOrEqual(Math.max(0, WAITING_SESSIONS_MAX - waiting));
          if (backOff === RUN_OUT) expect(plan.sends.length).toBeLessThanOrEqual(1);
          const sizes = new Map(batches.map(({ id, members }) => [id, members]));
          const started = plan.sends.reduce((sum, one) => sum + (sizes.get(one.batch) ?? 0), 0);
          if (room !== null) expect(started).toBeLessThanOrEqual(room);
          for (const { until } of plan.waits) if (until !== null) expect(until).toBeGreaterThan(NOW);
        },
      ),
      { numRuns: 500 },
    );
  });
});

function heldBy(hold: BackOff): PlanFacts['holds'] {
  return new Map([['A:0:', hold]]);
}

function keyed(hold: { length: number; start: number; probe: string | null; paused: boolean }): PlanFacts['keys'] {
  return new Map([['A:0:', hold]]);
}

function sent(batches: DueBatch[], facts: Partial<PlanFacts>): string[] {
  return planSends(batches, { ...FACTS, ...facts }).sends.map((send) => send.batch);
}
