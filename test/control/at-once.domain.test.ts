import { setImmediate as others } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { atOnce } from '../../control/changes/at-once.ts';

/** Works that end only when they are told to; `begun` and `under way` are seen meanwhile. */
function works() {
  const begun: number[] = [];
  const gates = new Map<number, PromiseWithResolvers<void>>();
  const work = async (item: number) => {
    begun.push(item);
    const gate = Promise.withResolvers<void>();
    gates.set(item, gate);
    await gate.promise.finally(() => gates.delete(item));
  };
  return { begun, gates, work };
}

describe('many works of which some go on at once', () => {
  test('are begun in their order, each when another has ended', async () => {
    const { begun, gates, work } = works();
    const all = atOnce(2, [1, 2, 3, 4], work);
    expect(begun).toEqual([1, 2]);
    gates.get(2)?.resolve();
    await others();
    expect(begun).toEqual([1, 2, 3]);
    gates.get(3)?.resolve();
    await others();
    expect([...gates.keys()]).toEqual([1, 4]);
    for (const gate of gates.values()) gate.resolve();
    expect(await all).toBe(0);
  });

  test('end with the first failure, after which none is begun', async () => {
    const { begun, gates, work } = works();
    const all = atOnce(2, [1, 2, 3], work);
    gates.get(1)?.reject(new Error('the first'));
    await expect(all).rejects.toThrow('the first');
    gates.get(2)?.resolve();
    await others();
    expect(begun).toEqual([1, 2]);
  });

  test('are left where none may be begun any more', async () => {
    const begun: number[] = [];
    const left = await atOnce(
      3,
      [1, 2, 3, 4, 5],
      async (item) => void begun.push(item),
      () => begun.length < 2,
    );
    expect({ begun, left }).toEqual({ begun: [1, 2], left: 3 });
  });

  test('may be none', async () => {
    expect(await atOnce(3, [], async () => Promise.reject(new Error('never')))).toBe(0);
  });
});
