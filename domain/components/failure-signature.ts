/** What failures of many hosts have in common. */

/** Characters of a message that count. */
const LONGEST = 300;

/** What differs from host to host and from try to try, with the word that stands for it; in this order. */
const VARYING: readonly [RegExp, string][] = [
  [/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?([.,]\d+)?(Z|[+-]\d{2}:?\d{2})?/g, 'TIME'],
  [/(\/[\w.-]+)*\/(tmp|\.ansible)(\/[\w.-]+)+/g, 'PATH'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, 'HEX'],
  [/\d+/g, 'N'],
];

/** Returns the first line of a message without what is of one host or one try alone. Failures with the same signature have the same cause, as far as words say. */
export function failureSignature(message: string, host: string): string {
  const first = firstLine(message).slice(0, LONGEST);
  const without = host === '' ? first : first.replaceAll(host, 'HOST');
  return VARYING.reduce((text, [pattern, word]) => text.replace(pattern, word), without);
}

/** Returns the first line that has a word in it. */
export function firstLine(message: string): string {
  return (
    message
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? ''
  );
}
