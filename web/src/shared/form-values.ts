/** Texts of a form: `true` or nothing for a switch, words with a blank between them for a choice of several. */
export type FormValues = Readonly<Record<string, string>>;

/** A field of a form. */
export interface FormField {
  /** Of its text among the values. */
  name: string;
  label: string;
  /** Member of the request that it writes, as the API names it in what it refuses. */
  at: string;
  hint?: string;
  /** Text by default. A secret is never shown. */
  kind?: 'text' | 'secret' | 'switch';
  /** It is one of these; the empty word is `any`. */
  words?: readonly string[];
  /** It is some of these. */
  some?: readonly string[];
}

/** Returns a text as a number where it is one; the API says what it thinks of another text. */
export const numberOrText = (text: string): number | string =>
  /^[0-9]{1,9}$/.test(text.trim()) ? Number(text.trim()) : text;

/** Returns the words of a choice of several. */
export const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** Returns the members whose texts are others than they were. */
export function changedNames(values: FormValues, begun: FormValues): Set<string> {
  return new Set(Object.keys(values).filter((name) => values[name] !== begun[name]));
}

/**
 * Returns the texts of an edit on top of other texts than it began with: what it has changed, and else what stands there by now. Of a choice of
 * several each word counts by itself.
 * @param now what would stand there without the edit
 */
export function rebased(
  values: FormValues,
  begun: FormValues,
  now: FormValues,
  fields: readonly FormField[],
): FormValues {
  const changed = changedNames(values, begun);
  const some = new Map(fields.map((field) => [field.name, field.some]));
  const textOf = (name: string): string => {
    if (!changed.has(name)) return now[name] ?? '';
    const [text = '', before = '', current = ''] = [values[name], begun[name], now[name]];
    const words = some.get(name);
    return words === undefined ? text : mergedWords(words, wordsOf(text), wordsOf(before), wordsOf(current)).join(' ');
  };
  return Object.fromEntries(Object.keys(values).map((name) => [name, textOf(name)]));
}

function mergedWords(all: readonly string[], words: string[], before: string[], now: string[]): string[] {
  return all.filter((word) => (words.includes(word) === before.includes(word) ? now : words).includes(word));
}
