import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keptReason, REASON_MAX, readReason } from '../../domain/reason.ts';

describe('the header', () => {
  test.each<[string | undefined, string | null]>([
    [undefined, null],
    ['', null],
    ['%20', null],
    ['rack%20r1%20burns', 'rack r1 burns'],
    ['plain words', 'plain words'],
    ['l%C3%A4uft%20%F0%9F%94%A5', 'läuft 🔥'],
    ['two%0Alines%0D%0Aand%09more', 'two lines and more'],
    ['a%00b', 'a b'],
    [encodeURIComponent('ä'.repeat(REASON_MAX)), 'ä'.repeat(REASON_MAX)],
  ])('%s', (header, reason) => {
    expect(readReason(header)).toBe(reason);
  });

  test.each(['%', '%zz', '%C3', '100%'])('%s is no UTF-8 with percent-encoding', (header) => {
    expect(() => readReason(header)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    expect(() => readReason(header)).toThrow(/Muster-Reason/);
  });

  test('a reason that is too long is refused with both numbers', () => {
    expect(() => readReason('x'.repeat(REASON_MAX + 1))).toThrow(/501 characters, at most are 500/);
  });
});

describe('what records keep', () => {
  test('any text fits in the comment of a statement, in one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        const kept = keptReason(text);
        if (kept === null) return;
        expect(kept).not.toMatch(/\p{Cc}/u);
        expect(kept.isWellFormed()).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(REASON_MAX);
        expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(3 * REASON_MAX + 2);
        expect(keptReason(kept)).toBe(kept.trim());
      }),
    );
  });

  test('a pair of surrogates that the bound cuts is no half', () => {
    expect(keptReason(`${'x'.repeat(REASON_MAX - 1)}🔥`)).toBe(`${'x'.repeat(REASON_MAX - 1)}\ufffd`);
  });
});
