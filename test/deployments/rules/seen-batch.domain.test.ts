/** What a watch tells is gathered into few writes, and nothing of it is lost or told twice. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSeenBatch } from '../../../control/deployments/seen-batch.ts';

test('writes the last word of each object, after each other, in order, and all of it', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), value: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.constant('flush' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const written: { key: string; value: number }[][] = [];
      let atWork = 0;
      const batch = createSeenBatch<{ key: string; value: number }>(async (changes) => {
        atWork += 1;
        expect(atWork).toBe(1);
        await Promise.resolve();
        written.push(changes);
        atWork -= 1;
      });
      const truth = new Map<string, number>();
      for (const each of steps) {
        if (each === 'flush') await batch.flush();
        else {
          truth.set(each.key, each.value);
          await batch.add(each.key, each);
        }
      }
      await batch.flush();
      batch.close();
      for (const changes of written) expect(new Set(changes.map(({ key }) => key)).size).toBe(changes.length);
      const rows = new Map(written.flat().map(({ key, value }) => [key, value]));
      expect(rows).toEqual(truth);
    }),
  );
});

test('is written soon without being asked to', async () => {
  const written = Promise.withResolvers<string[]>();
  const batch = createSeenBatch<string>(async (changes) => written.resolve(changes));
  await batch.add('a', 'first');
  await batch.add('b', 'second');
  await batch.add('a', 'third');
  expect(await written.promise).toEqual(['second', 'third']);
});

test('waits for the write where too much has come, and never writes more than 500 at once', async () => {
  const sizes: number[] = [];
  const batch = createSeenBatch<number>(async (changes) => void sizes.push(changes.length));
  for (let number = 0; number < 1_201; number += 1) await batch.add(`object-${number}`, number);
  await batch.flush();
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_201);
});

test('throws what a write has thrown, now and at each later word, and writes nothing more', async () => {
  let writes = 0;
  const batch = createSeenBatch<string>(async () => {
    writes += 1;
    throw new Error('the database is away');
  });
  await batch.add('a', 'first');
  await expect(batch.flush()).rejects.toThrow('the database is away');
  await expect(batch.add('b', 'second')).rejects.toThrow('the database is away');
  await expect(batch.flush()).rejects.toThrow('the database is away');
  expect(writes).toBe(1);
});

test('says that a write has thrown to who tells nothing more', async () => {
  const batch = createSeenBatch<string>(async () => {
    throw new Error('the database is away');
  });
  const broken = new Promise((resolve) => batch.broken.addEventListener('abort', resolve));
  await batch.add('a', 'first');
  await broken;
  expect(batch.broken.reason).toEqual(new Error('the database is away'));
});

test('writes nothing of what waits when it is closed', async () => {
  let writes = 0;
  const batch = createSeenBatch<string>(async () => {
    writes += 1;
  });
  await batch.add('a', 'first');
  batch.close();
  await batch.flush();
  expect(writes).toBe(0);
});
