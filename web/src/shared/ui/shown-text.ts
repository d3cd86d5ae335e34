/** Text from outside may hold characters that turn or hide what stands beside them. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns the text with control and bidirectional characters written out, as `\u202e`. */
export function shownText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}
