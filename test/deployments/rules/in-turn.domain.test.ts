/** The order in which resources of a group are done. */
import { describe, expect, test } from '@jest/globals';
import { inTurn, orderOf } from '../../../control/deployments/in-turn.ts';
import type { Waits } from '../../../domain/deployments/dependencies.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const resource = (key: string, waits = '') => ({
  key,
  manifest: JSON.stringify({ metadata: { name: key, annotations: waits === '' ? {} : { 'muster/wait-on': waits } } }),
});
const keyed = (...keys: string[]) => keys.map((key) => ({ key }));
const moment = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('resources', () => {
  test('are done one after the other where nothing says what they wait for, or one may be done at once', () => {
    const plain = [resource('a'), resource('b')];
    expect(orderOf('apply', plain, 9)).toEqual({ most: 1, waits: null });
    const waiting = [resource('a'), resource('b', 'a')];
    expect(orderOf('apply', waiting, 1)).toEqual({ most: 1, waits: null });
    expect(orderOf('apply', waiting, 9)).toEqual({ most: 9, waits: new Map([['b', ['a']]]) });
    expect(orderOf('delete', waiting, 9)).toEqual({ most: 9, waits: new Map([['a', ['b']]]) });
  });

  test('never begin before what they wait for, never more at once than may, and all are done once', async () => {
    const random = seededRandom();
    for (let round = 0; round < 50; round += 1) {
      const keys = Array.from({ length: 12 }, (_, at) => String(at));
      const waits = new Map(keys.map((key, at) => [key, keys.slice(0, at).filter(() => random.next() < 0.2)]));
      const most = 1 + Math.floor(random.next() * 4);
      const done = new Set<string>();
      let atWork = 0;
      let peak = 0;
      const ends = await inTurn(keyed(...keys), { most, waits }, async ({ key }) => {
        expect([random.seed, (waits.get(key) ?? []).filter((other) => !done.has(other))]).toEqual([random.seed, []]);
        atWork += 1;
        peak = Math.max(peak, atWork);
        for (let rest = random.next() * 4; rest > 0; rest -= 1) await moment();
        atWork -= 1;
        expect(done.has(key)).toBe(false);
        done.add(key);
        return null;
      });
      expect([ends, done.size]).toEqual([[], 12]);
      expect(peak).toBeLessThanOrEqual(most);
    }
  });

  test('are not begun any more once a step has said something; what is at work ends', async () => {
    const order: string[] = [];
    const ends = await inTurn(
      keyed('a', 'b', 'c', 'd'),
      { most: 2, waits: new Map([['d', ['c']]]) },
      async ({ key }) => {
        order.push(key);
        if (key === 'a') return 'away';
        await moment();
        order.push(`${key} ended`);
        return null;
      },
    );
    expect([ends, order]).toEqual([['away'], ['a', 'b', 'b ended']]);
  });

  test('that throw are told of when no other is at work', async () => {
    let hasEnded = false;
    const work = inTurn(keyed('a', 'b'), { most: 2, waits: new Map([['b', []]]) }, async ({ key }) => {
      if (key === 'a') throw new Error('lost');
      await moment();
      hasEnded = true;
      return null;
    });
    await expect(work).rejects.toThrow('lost');
    expect(hasEnded).toBe(true);
  });

  test('that wait for each other in a circle are done in their order', async () => {
    const circle: Waits = new Map([
      ['a', ['b']],
      ['b', ['a']],
    ]);
    const order: string[] = [];
    await inTurn(keyed('a', 'b'), { most: 2, waits: circle }, async ({ key }) => {
      order.push(key);
      return null;
    });
    expect(order).toEqual(['a', 'b']);
  });
});
