/** What failures of many hosts have in common. The store reads it of messages; failures with the same signature have the same cause, as far as words say. */

/** Characters of a message's first line that count. */
export const SIGNATURE_LENGTH = 300;

/** What stands for the id of the host. It is put in before anything else. */
export const HOST_WORD = 'HOST';

const [HEX, LETTER] = ['[0-9a-fA-F]', '[0-9A-Za-z_]'];
const [WORD_START, WORD_END] = [`(?<!${LETTER})`, `(?!${LETTER})`];
const PLACE = '(/[0-9A-Za-z_.-]+)';

/**
 * What differs from host to host and from try to try, with the word that stands for it; in this order. Patterns mean the same to JavaScript and to
 * PostgreSQL: they have no classes like `\d`, which depend on a locale there.
 */
export const VARYING: readonly (readonly [pattern: string, word: string])[] = [
  ['[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([.,][0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?', 'TIME'],
  [`${PLACE}*/(tmp|[.]ansible)${PLACE}+`, 'PATH'],
  [
    [
      `${WORD_START}${HEX}{8}(-${HEX}{4}){3}-${HEX}{12}${WORD_END}`,
      `${WORD_START}0[xX]${HEX}+${WORD_END}`,
      `${WORD_START}(?=[a-fA-F]*[0-9])${HEX}{8,}${WORD_END}`,
    ].join('|'),
    'HEX',
  ],
  ['[0-9]+', 'N'],
];

/** Returns the first line that has a word in it. */
export function firstLine(message: string): string {
  return (
    message
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? ''
  );
}
