/** What a run writes, cut into pieces that can be stored. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storableHost, storableJson, storableText, storableTime } from '../../domain/runs/storable-text.ts';
import { textChunkLength } from '../../domain/runs/text-chunk.ts';
import { runIdOf, sessionOfRun } from '../../domain/sessions/run-id.ts';

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);

describe('a piece of output', () => {
  test.each([
    ['nothing', '', 0],
    ['plain text without a line end', 'abc', 3],
    ['up to the last line end', 'one\ntwo\nthr', 8],
    ['a line end at the end', 'one\n', 4],
    ['a whole character of two bytes', 'aé', 3],
    ['a whole character of three bytes', 'a€', 4],
    ['a whole character of four bytes', 'a🚀', 5],
  ])('%s', (_title, text, length) => {
    expect(textChunkLength(bytesOf(text), false)).toBe(length);
  });

  test.each(['é', '€', '🚀'])('waits for the rest of %s', (character) => {
    const bytes = bytesOf(`a${character}`);
    for (let cut = 2; cut < bytes.length; cut += 1) expect(textChunkLength(bytes.subarray(0, cut), false)).toBe(1);
  });

  test('takes everything when nothing follows', () => {
    expect(textChunkLength(bytesOf('🚀').subarray(0, 2), true)).toBe(2);
  });

  test('is never cut inside a character and loses no byte, however the bytes come in', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 }).map((value) => value.toWellFormed());
    fc.assert(
      fc.property(
        text,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        fc.boolean(),
        (value, steps, lines) => {
          const all = bytesOf(lines ? value : value.replaceAll('\n', ' '));
          const pieces: string[] = [];
          let taken = 0;
          let there = 0;
          for (let turn = 0; there < all.length; turn += 1) {
            there = Math.min(all.length, there + (steps[turn % steps.length] ?? 1));
            const length = textChunkLength(all.subarray(taken, there), false);
            pieces.push(
              new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(all.subarray(taken, taken + length)),
            );
            taken += length;
          }
          const last = all.subarray(taken);
          pieces.push(
            new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
              last.subarray(0, textChunkLength(last, true)),
            ),
          );
          expect(bytesOf(pieces.join(''))).toEqual(all);
        },
      ),
    );
  });

  test('goes on behind bytes that are no text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 5, maxLength: 40 }), (bytes) => {
        const length = textChunkLength(bytes, false);
        expect(length).toBeGreaterThan(0);
        expect(length).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});

describe('storable', () => {
  test.each([
    ['ordinary text', 'söme 🚀', 'söme 🚀'],
    ['NUL', 'a\u0000b', 'a\ufffdb'],
    ['half a pair', 'a\ud83d', 'a\ufffd'],
    ['the other half', '\ude80b', '\ufffdb'],
  ])('%s', (_title, text, stored) => {
    expect(storableText(text)).toBe(stored);
  });

  test('data in every depth, keys too', () => {
    expect(storableJson({ 'a\u0000': ['\ud83d', 1, null, true, { b: 'c\u0000' }] })).toEqual({
      'a\ufffd': ['\ufffd', 1, null, true, { b: 'c\ufffd' }],
    });
    expect(Object.keys(storableJson(JSON.parse('{"__proto__": "x"}')))).toEqual(['__proto__']);
  });

  test('no data without a bottom', () => {
    expect(() => storableJson(JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`))).toThrow(RangeError);
    expect(() => storableJson(JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`))).not.toThrow();
  });

  test('any data, and twice is as once', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), (value) => {
        const once = storableJson(value);
        expect(storableJson(once)).toEqual(once);
        expect(JSON.stringify(once)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
    );
  });

  test('names of hosts that an index takes', () => {
    expect(storableHost('web1')).toBe('web1');
    expect(bytesOf(storableHost('€'.repeat(5_000))).length).toBeLessThan(2_000);
  });

  const instead = new Date('2026-11-21T10:00:00Z');
  test.each([
    ['2026-11-21T09:00:00.123Z', '2026-11-21T09:00:00.123Z'],
    ['yesterday', '2026-11-21T10:00:00.000Z'],
    ['', '2026-11-21T10:00:00.000Z'],
    ['+275760-09-13T00:00:00.000Z', '2026-11-21T10:00:00.000Z'],
    ['-000044-03-15T00:00:00.000Z', '2026-11-21T10:00:00.000Z'],
  ])('the time %s', (text, stored) => {
    expect(storableTime(text, instead).toISOString()).toBe(stored);
  });
});

test('a run names its session', () => {
  const session = '0b6c2f0e-6f0a-4b2f-9a39-1f3a0f5b8c11';
  expect(runIdOf(session, 12, 3)).toBe(`${session}-12-3`);
  expect(sessionOfRun(runIdOf(session, 12, 3))).toBe(session);
  expect(sessionOfRun('reconcile')).toBe('reconcile');
});
