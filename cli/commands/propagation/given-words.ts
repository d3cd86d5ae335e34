/** Inputs and mappings as words of a command line: pairs, or one JSON text. */
import { usage } from '../../failure.ts';

/**
 * Returns the inputs of `name=value` words and of JSON objects; the last of a name wins. A value that is JSON counts as JSON, any other as
 * text: `port=80` is a number, `port='"80"'` a text.
 * Throws a `CliFailure`.
 */
export function readInputs(words: readonly string[]): Record<string, unknown> {
  const inputs = words.map((word): Record<string, unknown> => {
    if (word.trim().startsWith('{')) return objectOf(word);
    const at = word.indexOf('=');
    if (at < 1) throw usage(`'${word}' is no input: write it as name=value, or all inputs as one JSON object`);
    return { [word.slice(0, at)]: jsonOrText(word.slice(at + 1)) };
  });
  return Object.fromEntries(inputs.flatMap((one) => Object.entries(one)));
}

export type Mapping = string[] | Record<string, unknown>;

/**
 * Returns the mapping of `from->to` words and of names, which stand for inputs of the same name, or that of a JSON text. Without a word
 * there is none.
 * Throws a `CliFailure`.
 */
export function readMapping(words: readonly string[]): Mapping | undefined {
  const [first] = words;
  if (first === undefined) return undefined;
  if (/^\s*[{[]/.test(first)) {
    if (words.length > 1) throw usage('a mapping in JSON is one word');
    return first.trim().startsWith('[') ? listOf(first) : objectOf(first);
  }
  const mapping = new Map<string, string[]>();
  for (const word of words) {
    const [from = '', to = from, ...more] = word.split('->').map((part) => part.trim());
    if (from === '' || to === '' || more.length > 0) {
      throw usage(`'${word}' is no part of a mapping: write it as input->address, or as the name of an input`);
    }
    mapping.set(from, [...(mapping.get(from) ?? []), to]);
  }
  return Object.fromEntries(mapping);
}

function objectOf(text: string): Record<string, unknown> {
  const value = jsonOrText(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usage(`'${text}' is no JSON object`);
}

function listOf(text: string): string[] {
  const value = jsonOrText(text);
  if (Array.isArray(value)) return value.map(String);
  throw usage(`'${text}' is no JSON list`);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
