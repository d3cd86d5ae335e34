import { expect, test } from '@jest/globals';
import { isAnswerKept, isIdempotencyKey } from '../../domain/requests/idempotency.ts';

test.each<[string, boolean]>([
  ['a', true],
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', true],
  ['"quoted key"', true],
  [' a ', true],
  ['~', true],
  ['x'.repeat(255), true],
  ['', false],
  ['   ', false],
  ['x'.repeat(256), false],
  ['a\tb', false],
  ['a\u0000', false],
  ['a\u007f', false],
  ['schl\u00fcssel', false],
  ['\u{1F511}', false],
])('whether %j is a key: %j', (key, expected) => expect(isIdempotencyKey(key)).toBe(expected));

test.each<[number, boolean]>([
  [200, true],
  [201, true],
  [202, true],
  [204, true],
  [400, true],
  [401, false],
  [403, false],
  [404, true],
  [408, false],
  [409, true],
  [413, false],
  [415, false],
  [422, true],
  [429, false],
  [500, false],
  [502, false],
  [503, false],
])('whether an answer %i is kept: %j', (status, kept) => expect(isAnswerKept(status)).toBe(kept));
