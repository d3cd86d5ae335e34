import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashToken, isHashOf, newToken } from '../../control/access/token-secret.ts';
import { formatToken, TOKEN_BYTES, tokenKindOf, tokenStart } from '../../domain/access/token-format.ts';

const bytes = fc.uint8Array({ minLength: TOKEN_BYTES, maxLength: TOKEN_BYTES });
const kind = fc.constantFrom('api' as const, 'run' as const);

test('every token is recognised as what it was made for, and different bytes make different tokens', () => {
  fc.assert(
    fc.property(kind, bytes, bytes, (which, one, other) => {
      expect(tokenKindOf(formatToken(which, one))).toBe(which);
      if (Buffer.compare(one, other) !== 0) expect(formatToken(which, one)).not.toBe(formatToken(which, other));
    }),
  );
});

test('the form is fixed: tokens that were handed out stay valid', () => {
  expect(formatToken('api', new Uint8Array(TOKEN_BYTES))).toBe(`muster_${'0'.repeat(43)}2J28yZ`);
  expect(formatToken('run', new Uint8Array(TOKEN_BYTES).fill(255))).toMatch(/^musterrun_[0-9A-Za-z]{49}$/);
});

test('a token with one character changed is none', () => {
  fc.assert(
    fc.property(bytes, fc.nat(48), fc.constantFrom(...'0aZ_ -'), (random, place, character) => {
      const token = formatToken('api', random);
      const at = 'muster_'.length + place;
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expect(tokenKindOf(changed)).toBe(changed === token ? 'api' : null);
    }),
  );
});

test('random text is no token', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(tokenKindOf(text)).toBeNull()));
  fc.assert(fc.property(fc.string(), (text) => expect(tokenKindOf(`muster_${text}`)).toBeNull()));
});

describe('secrets', () => {
  test('a token holds 256 bits of chance and only its hash is needed to know it again', () => {
    const [one, other] = [newToken('api'), newToken('api')];
    expect(one).not.toBe(other);
    expect(isHashOf(hashToken(one), one)).toBe(true);
    expect(isHashOf(hashToken(one), other)).toBe(false);
    expect(isHashOf(hashToken(one).subarray(1), one)).toBe(false);
    expect(hashToken(one)).toHaveLength(32);
  });
  test('too few bytes make no token', () => {
    expect(() => formatToken('api', new Uint8Array(16))).toThrow(RangeError);
  });
  test('the start tells tokens apart and gives nothing away', () => {
    const token = newToken('run');
    expect(tokenStart(token)).toBe(token.slice(0, 18));
    expect(tokenStart('eyJhbGciOiJub25lIn0.e30.')).toBe('eyJhbGci');
  });
});
