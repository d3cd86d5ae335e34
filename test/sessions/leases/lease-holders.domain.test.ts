import { expect, test } from '@jest/globals';
import { leaseWaitsOf } from '../../../domain/sessions/lease-holders.ts';

const NAMES = new Map([
  [1, 'late'],
  [2, 'b'],
  [3, 'a'],
  [5, 'me'],
  [8, 'younger'],
]);

test('a session waits for who has its components and for who is older, those with most first, then by name', () => {
  const components = [
    { holder: 8, asks: [2, 3, 5] },
    { holder: null, asks: [1, 2, 5, 8] },
    { holder: null, asks: [3, 5, 8] },
  ];
  const waits = leaseWaitsOf([5, 1, 8], components, NAMES);
  const one = (session: string, components: number) => ({ session, components });
  expect(waits.get(5)).toEqual({ first: [one('a', 2), one('b', 2), one('late', 1), one('younger', 1)], count: 4 });
  expect(waits.get(8)).toEqual({ first: [one('me', 2), one('a', 1), one('b', 1), one('late', 1)], count: 4 });
  expect(waits.has(1)).toBe(false);
});

test('five are named, and the others counted', () => {
  const asks = Array.from({ length: 12 }, (_, number) => number);
  const names = new Map(asks.map((number) => [number, `s-${String(11 - number).padStart(2, '0')}`]));
  const wait = leaseWaitsOf([11], [{ holder: null, asks }], names).get(11);
  expect(wait?.first.map(({ session }) => session)).toEqual(['s-01', 's-02', 's-03', 's-04', 's-05']);
  expect(wait?.count).toBe(11);
});

test('what a session has, and asks for, keeps it off nothing', () => {
  expect(leaseWaitsOf([5], [{ holder: 5, asks: [5] }], NAMES).size).toBe(0);
});
