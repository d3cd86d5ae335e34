import { describe, expect, test } from '@jest/globals';
import type { BatcherWorld } from './batcher-world.ts';

/** The vectors B1 to B10 of cfs-flows 5.3 against any batcher. */
export function describeVectors(makeWorld: () => Promise<BatcherWorld>): void {
  describe('the vectors of cfs-flows 5.3', () => {
    test('B1: a component alone waits until its window is over, not just at its end', async () => {
      const world = await worldWith(1);
      await world.put({ id: 'a' });
      await passes(world, 10, 120);
      expect(await seen(world)).toEqual([[80, 'A', '0', 'a']]);
    });

    test('B2: full batches go at once, the rest after its window', async () => {
      const world = await worldWith(1);
      const ids = Array.from({ length: 60 }, (_, n) => `c${String(n).padStart(2, '0')}`);
      for (const id of ids) await world.put({ id });
      await passes(world, 10, 100);
      expect(await seen(world)).toEqual([
        [10, 'A', '0', ids.slice(0, 25).join(',')],
        [10, 'A', '0', ids.slice(25, 50).join(',')],
        [80, 'A', '0', ids.slice(50).join(',')],
      ]);
    });

    test('B3: another configuration, other pending layers or another last status is another batch', async () => {
      const world = await worldWith(1);
      await world.configure('A', 2);
      await world.configure('B', 1);
      await world.put({ id: 'a', state: [[1, 'applied']] });
      await world.put({ id: 'b', configuration: 'B' });
      await world.put({ id: 'c', state: [[0, 'applied']] });
      await world.put({
        id: 'd',
        state: [
          [1, 'applied'],
          [0, 'failed'],
        ],
      });
      await passes(world, 10, 100);
      expect(await seen(world)).toEqual([
        [80, 'A', '0', 'a'],
        [80, 'B', '0', 'b'],
        [80, 'A', '1', 'c'],
        [80, 'A', '0', 'd'],
      ]);
    });

    test('B4: who comes while the window is open joins', async () => {
      const world = await worldWith(1);
      await world.put({ id: 'a' });
      await passes(world, 10, 40);
      await world.put({ id: 'b' });
      await passes(world, 50, 70);
      await world.put({ id: 'c' });
      await passes(world, 80, 100);
      expect(await seen(world)).toEqual([[80, 'A', '0', 'a,b,c']]);
    });

    test('B5: success skips what is still pending, and only where something is', async () => {
      const world = await worldWith(3);
      await world.setOptions({ batch_size: 2 });
      for (const id of ['a', 'b']) await world.put({ id, state: [[1, 'applied']] });
      await passes(world, 10, 30);
      const [session] = await world.sessions();
      expect(await seen(world)).toEqual([[10, 'A', '0,2', 'a,b']]);
      await world.reach('b');
      const reached = await world.component('b');
      await world.end(session?.name ?? '', 'true');
      await passes(world, 40, 120);
      expect((await world.component('a')).state.slice(-2)).toEqual([
        { layer: 0, status: 'skipped', session: session?.name },
        { layer: 2, status: 'skipped', session: session?.name },
      ]);
      expect((await world.component('a')).errors).toBe(0);
      expect(await world.component('b')).toEqual(reached);
      expect(await world.sessions()).toHaveLength(1);
    });

    test('B6: failure without a report is one failed entry and one error, and the next session follows at once', async () => {
      const world = await worldWith(2);
      await world.setOptions({ batch_size: 1 });
      await world.put({ id: 'a', errors: 1 });
      await passes(world, 10, 20);
      const [session] = await world.sessions();
      await world.end(session?.name ?? '', 'false');
      await passes(world, 30, 30);
      expect(await world.component('a')).toEqual({
        state: [{ layer: 0, status: 'failed', session: session?.name }],
        errors: 2,
      });
      expect(await seen(world)).toEqual([
        [10, 'A', '0,1', 'a'],
        [30, 'A', '0,1', 'a'],
      ]);
    });

    test('B7: a session that never starts is deleted after the time-out and made again', async () => {
      const world = await worldWith(1);
      await world.setOptions({ batch_size: 1 });
      await world.put({ id: 'a' });
      await passes(world, 10, 640);
      expect((await world.sessions()).map(({ at, deletedAt }) => [at, deletedAt])).toEqual([
        [10, 320],
        [320, 630],
        [630, null],
      ]);
      expect((await world.component('a')).errors).toBe(0);
    });

    test('B8: who is disabled is collected when enabled', async () => {
      const world = await worldWith(1);
      await world.setOptions({ batch_window: 30 });
      await world.put({ id: 'a', enabled: false });
      await passes(world, 10, 90);
      await world.setEnabled('a', true);
      await passes(world, 100, 160);
      expect(await seen(world)).toEqual([[140, 'A', '0', 'a']]);
    });

    test('B9: a session has the tags that all have in common', async () => {
      const world = await worldWith(1);
      await world.setOptions({ batch_size: 2 });
      await world.put({ id: 'a', tags: { bos_session: 's', rack: '1' } });
      await world.put({ id: 'b', tags: { bos_session: 's', rack: '2' } });
      await world.pass(10);
      expect((await world.sessions()).map(({ tags }) => tags)).toEqual([{ bos_session: 's' }]);
    });

    test('B10: twenty failures in a row hold everything back for a minute', async () => {
      const world = await worldWith(1);
      await world.setOptions({ batch_size: 1 });
      const ids = Array.from({ length: 20 }, (_, n) => `c${String(n).padStart(2, '0')}`);
      for (const id of ids) await world.put({ id, retries: -1 });
      await world.pass(10);
      const first = await world.sessions();
      expect(first).toHaveLength(20);
      for (const session of first.slice(0, 19)) await world.end(session.name, 'false');
      await world.pass(20);
      expect(await world.sessions()).toHaveLength(39);
      const last = first[19];
      await world.end(last?.name ?? '', 'false');
      await passes(world, 30, 80);
      expect(await world.sessions()).toHaveLength(39);
      await world.pass(90);
      const next = (await world.sessions()).slice(39);
      expect(next.map(({ at, hosts }) => [at, hosts])).toEqual([[90, last?.hosts]]);
    });
  });

  async function worldWith(layers: number): Promise<BatcherWorld> {
    const world = await makeWorld();
    await world.configure('A', layers);
    return world;
  }
}

type Seen = [at: number, configuration: string, limit: string, hosts: string];

/** By time, those of one time by their hosts. */
async function seen(world: BatcherWorld): Promise<Seen[]> {
  const sessions = await world.sessions();
  const rows = sessions.map(({ at, configuration, limit, hosts }): Seen => [at, configuration, limit, hosts.join(',')]);
  return rows.sort((one, two) => one[0] - two[0] || (one[3] < two[3] ? -1 : 1));
}

/** A pass every 10 s, both ends included. */
async function passes(world: BatcherWorld, from: number, to: number): Promise<void> {
  for (let at = from; at <= to; at += 10) await world.pass(at);
}
