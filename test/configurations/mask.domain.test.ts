import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMask, MASK, maskSecrets } from '../../domain/runs/mask.ts';

test.each([
  ['a value', 'password is hunter22!', ['hunter22'], `password is ${MASK}!`],
  ['every place of a value', 'word word', ['word'], `${MASK} ${MASK}`],
  ['the longer of two values', 'secretly', ['secret', 'secretly'], MASK],
  ['a value with characters of patterns', 'a.*b+c|d', ['.*b+c|'], `a${MASK}d`],
  ['a value without its blanks', 'x=word', [' word\n'], `x=${MASK}`],
  ['nothing for values under four characters', 'abc', ['abc', '', 'a'], 'abc'],
  ['lines of a key', 'log: line-one-of-key', ['BEGIN\nline-one-of-key\nend'], `log: ${MASK}`],
  ['no short line of a key', 'the end', ['BEGIN\nline-one-of-key\nend'], 'the end'],
  ['a key as a whole', 'k: BEGIN\nline-one-of-key', ['BEGIN\nline-one-of-key'], `k: ${MASK}`],
  ['lines that end with a carriage return', 'x line-one-of-key', ['BEGIN\r\nline-one-of-key\r\n'], `x ${MASK}`],
  ['nothing without values', 'text', [], 'text'],
])('masks %s', (_title, text, values, masked) => {
  expect(maskSecrets(text, values)).toBe(masked);
});

test('no value of four or more characters is left in any text', () => {
  const value = fc.string({ minLength: 4 }).filter((text) => !MASK.includes(text) && !text.includes('*'));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), fc.array(fc.string()), (values, others) => {
      const masked = createMask(values)(
        others.flatMap((other, index) => [other, values[index % values.length] ?? '']).join(' '),
      );
      for (const one of values.filter((candidate) => candidate.trim() === candidate)) expect(masked).not.toContain(one);
    }),
  );
});
