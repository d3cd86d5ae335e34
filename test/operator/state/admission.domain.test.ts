/** Which resources run, and where: by urgency, within the places of kinds and processes. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { admit, type Candidate } from '../../../domain/operator/admission.ts';
import { CAUSE_TYPES, urgencyOf } from '../../../domain/operator/cause.ts';

const candidate = (id: string, kind: string, urgency: number, second = 0): Candidate => ({
  ...{ id, kind, urgency },
  dueAt: new Date(second * 1000),
});
const places = (kinds: Record<string, number>, machines: Record<string, number>) => ({
  kinds: new Map(Object.entries(kinds)),
  machines: new Map(Object.entries(machines)),
});

test('causes go in this order', () => {
  const byUrgency = [...CAUSE_TYPES].sort((one, other) => urgencyOf(one) - urgencyOf(other));
  expect(byUrgency).toEqual([
    'deleted',
    'created',
    'changed',
    'manual',
    'retry',
    'dependent',
    'timer',
    'config',
    'resync',
  ]);
});

test('the most urgent first, then the first come', () => {
  const due = [candidate('timer', 'A', 5, 0), candidate('late', 'A', 1, 2), candidate('early', 'A', 1, 1)];
  expect(admit(due, places({ A: 2 }, { m: 9 })).map(({ id }) => id)).toEqual(['early', 'late']);
});

test('a kind without a place keeps no other from running; each goes to the machine with the most places', () => {
  const due = [candidate('a1', 'A', 0), candidate('a2', 'A', 0), candidate('b1', 'B', 5), candidate('b2', 'B', 5)];
  expect(admit(due, places({ A: 1, B: 5 }, { m: 1, n: 2 }))).toEqual([
    { id: 'a1', machine: 'n' },
    { id: 'b1', machine: 'm' },
    { id: 'b2', machine: 'n' },
  ]);
  expect(admit(due, places({ A: 1, B: 5 }, {}))).toEqual([]);
});

test('no place is taken twice, and none stays free that something due could have', () => {
  const due = fc.array(fc.record({ kind: fc.constantFrom('A', 'B'), urgency: fc.integer({ min: 0, max: 6 }) }), {
    maxLength: 12,
  });
  const free = fc.integer({ min: 0, max: 4 });
  fc.assert(
    fc.property(due, free, free, free, free, (list, a, b, m, n) => {
      const candidates = list.map(({ kind, urgency }, index) => candidate(String(index), kind, urgency, index));
      const admitted = admit(candidates, places({ A: a, B: b }, { m, n }));
      const ids = new Set(admitted.map(({ id }) => id));
      expect(ids.size).toBe(admitted.length);
      const kindOf = (id: string) => candidates.find((one) => one.id === id)?.kind;
      const taken = (kind: string) => admitted.filter(({ id }) => kindOf(id) === kind).length;
      expect(taken('A')).toBeLessThanOrEqual(a);
      expect(taken('B')).toBeLessThanOrEqual(b);
      const on = (machine: string) => admitted.filter((one) => one.machine === machine).length;
      expect(on('m')).toBeLessThanOrEqual(m);
      expect(on('n')).toBeLessThanOrEqual(n);
      const wanted = (kind: string, limit: number) =>
        Math.min(limit, candidates.filter((one) => one.kind === kind).length);
      expect(admitted.length).toBe(Math.min(m + n, wanted('A', a) + wanted('B', b)));
    }),
  );
});
