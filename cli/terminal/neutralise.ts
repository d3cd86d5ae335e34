/**
 * Characters that steer a terminal or reorder text: C0 and C1 controls, DEL, line and paragraph separators, marks and
 * overrides of writing direction, and the byte order mark. Hosts choose names and messages, so none may pass.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** `text` as one line that a terminal only shows: each steering character as its escape (`\x1b`). */
export function oneLine(text: string): string {
  return text.replace(STEERING, visible);
}

/** Like `oneLine`, but line ends (also CRLF) and tabs stay: for output of many lines. */
export function manyLines(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(STEERING, (character) => (character === '\n' || character === '\t' ? character : visible(character)));
}
