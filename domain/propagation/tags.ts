/**
 * Tags of resources and the expressions that select by them. A tag is stored as `name=value`; a bare tag has the empty value.
 * AND binds tighter than OR: `a|b&c` is a, or both b and c.
 */
import { type MusterError, musterError } from '../errors.ts';

export type TagExpression =
  | { all: readonly TagExpression[] }
  | { any: readonly TagExpression[] }
  /** `value` null stands for any value, the empty one too. */
  | { key: string; value: string | null };

const LONGEST_EXPRESSION = 4_096;
/** Brackets inside brackets at most. */
const DEEPEST = 100;
const WORD = /[A-Za-z0-9\-_/\\]+/y;
const KEY = /^[A-Za-z0-9\-_/\\]{1,128}$/;
/** Names of resources and of definitions are values of tags, so dots may be in a value. */
const VALUE = /^[A-Za-z0-9\-_/\\.:@+]{0,253}$/;

/** Returns the stored form of a tag, or null where the text is no tag. */
export function storedTag(text: string): string | null {
  const at = text.indexOf('=');
  const [key, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  return KEY.test(key) && VALUE.test(value) ? `${key}=${value}` : null;
}

/**
 * Reads a tag expression.
 * Throws `tag_syntax` with the column.
 */
export function parseTags(text: string): TagExpression {
  if (text.length > LONGEST_EXPRESSION) {
    throw musterError('tag_syntax', `The tag expression is longer than ${LONGEST_EXPRESSION} characters`);
  }
  const reader = { text, at: 0 };
  const expression = readAny(reader, 0);
  if (reader.at < text.length) throw wrongAt(reader, 'an operator (& , |) or the end');
  return expression;
}

interface Reader {
  text: string;
  at: number;
}

function readAny(reader: Reader, depth: number): TagExpression {
  const any = [readAll(reader, depth)];
  while (take(reader, '|')) any.push(readAll(reader, depth));
  const [first] = any;
  return any.length === 1 && first !== undefined ? first : { any };
}

function readAll(reader: Reader, depth: number): TagExpression {
  const all = [readAtom(reader, depth)];
  while (take(reader, '&') || take(reader, ',')) all.push(readAtom(reader, depth));
  const [first] = all;
  return all.length === 1 && first !== undefined ? first : { all };
}

function readAtom(reader: Reader, depth: number): TagExpression {
  if (take(reader, '(')) {
    if (depth === DEEPEST) throw wrongAt(reader, `at most ${DEEPEST} brackets inside one another`);
    const inner = readAny(reader, depth + 1);
    if (!take(reader, ')')) throw wrongAt(reader, 'a closing bracket');
    return inner;
  }
  const key = word(reader);
  if (key === '') throw wrongAt(reader, 'a tag');
  if (!take(reader, '=')) return { key, value: '' };
  return take(reader, '*') ? { key, value: null } : { key, value: word(reader) };
}

function take(reader: Reader, sign: string): boolean {
  if (reader.text[reader.at] !== sign) return false;
  reader.at++;
  return true;
}

function word(reader: Reader): string {
  WORD.lastIndex = reader.at;
  const found = WORD.exec(reader.text)?.[0] ?? '';
  reader.at += found.length;
  return found;
}

function wrongAt({ text, at }: Reader, wanted: string): MusterError {
  const found = at < text.length ? `'${text[at]}'` : 'the end';
  return musterError('tag_syntax', `The tag expression has ${found} at column ${at + 1}, where ${wanted} is expected`);
}

/**
 * Whether tags match an expression, or one of a list of expressions. Tags may be in either form.
 * Throws `tag_syntax` with the column.
 */
export function matches(expression: string | readonly string[], tags: Iterable<string>): boolean {
  const own = new Set([...tags].map((tag) => (tag.includes('=') ? tag : `${tag}=`)));
  const keys = new Set([...own].map((tag) => tag.slice(0, tag.indexOf('='))));
  const fits = (one: TagExpression): boolean => {
    if ('all' in one) return one.all.every(fits);
    if ('any' in one) return one.any.some(fits);
    return one.value === null ? keys.has(one.key) : own.has(`${one.key}=${one.value}`);
  };
  return (typeof expression === 'string' ? [expression] : expression).map(parseTags).some(fits);
}
