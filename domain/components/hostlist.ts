/**
 * Hostlist expressions: many names in one text. Terms are joined by `,`. A term is literal text and brackets; a bracket has items `n`, `a-b`
 * and `a-b/step`. Several brackets multiply. `!term` takes names away from all before it. `@k=v` means the members of a tag. `\` escapes
 * the next character. Blanks around a term do not count.
 */
import { musterError } from '../errors.ts';
import { inNaturalOrder } from './natural-order.ts';

/** Bytes of an expression at most. */
export const HOSTLIST_BYTES = 64 * 1024;
/** Names that the terms of an expression make at most, counted before a name is made. */
export const HOSTLIST_NAMES = 200_000;

/** Consecutive numbers of a bracket, each `step` after the other, written with at least `width` digits. */
interface NumberRange {
  first: bigint;
  count: bigint;
  step: bigint;
  width: number;
}

type Piece = string | readonly NumberRange[];

interface Term {
  takesAway: boolean;
  /** The term names tags, whose members are meant. */
  isTag: boolean;
  pieces: readonly Piece[];
  /** Where the term begins, in characters from 0. */
  at: number;
}

/** A tag whose members an expression means. */
export interface HostlistTag {
  key: string;
  value: string;
}

/** An expression that was read, and whose size is within the limits. */
export interface Hostlist {
  /** The tags that it means; their members are to be looked up before names are made. */
  tags: readonly HostlistTag[];
  /**
   * The names that it means, without doubles, in natural order.
   * @param members the names that have a tag; asked for each of `tags`
   * Throws `hostlist_too_large` when members of tags make too many names.
   */
  names(members?: (tag: HostlistTag) => readonly string[]): string[];
}

/** Reads an expression. Throws `bad_hostlist` with the position of the mistake, and `hostlist_too_large`. */
export function readHostlist(text: string): Hostlist {
  if (new TextEncoder().encode(text).length > HOSTLIST_BYTES)
    throw musterError('hostlist_too_large', `A hostlist has at most ${HOSTLIST_BYTES / 1024} KiB.`, 'hosts');
  const terms = readTerms([...text]);
  let count = 0n;
  for (const term of terms) {
    count += countOf(term);
    if (count > HOSTLIST_NAMES) throw tooLarge(term.at);
  }
  const tagsOf = new Map(terms.filter(({ isTag }) => isTag).map((term) => [term, textsOf(term).map(tagOf(term.at))]));
  return {
    tags: [...tagsOf.values()].flat(),
    names: (members = () => []) => {
      const names = new Set<string>();
      let made = 0;
      for (const term of terms) {
        const own = tagsOf.get(term)?.flatMap((tag) => members(tag)) ?? textsOf(term);
        made += own.length;
        if (made > HOSTLIST_NAMES) throw tooLarge(term.at);
        for (const name of own) {
          if (term.takesAway) names.delete(name);
          else names.add(name);
        }
      }
      return inNaturalOrder(names);
    },
  };
}

/** An expression for these names, short where they differ in a number alone. `readHostlist` makes the same names of it. */
export function foldHostlist(names: Iterable<string>): string {
  const terms = new Map<string, { before: string; after: string; numbers: string[] }>();
  for (const name of inNaturalOrder(new Set(names))) {
    const [, before = name, number = '', after = ''] = /^(.*?)([0-9]+)([^0-9]*)$/s.exec(name) ?? [];
    // A name without a number is a term of its own.
    const key = JSON.stringify(number === '' ? [name] : [before, after]);
    const term = terms.get(key);
    if (term === undefined) terms.set(key, { before, after, numbers: [number] });
    else term.numbers.push(number);
  }
  return [...terms.values()]
    .map(({ before, after, numbers }) => `${escaped(before)}${foldedNumbers(numbers)}${escaped(after)}`)
    .join(',');
}

function foldedNumbers(numbers: readonly string[]): string {
  if (numbers.length === 1) return numbers[0] ?? '';
  const left = new Set(numbers);
  const widths = new Set(numbers.filter((number) => /^0./.test(number)).map(({ length }) => length));
  const runs: string[] = [];
  // A run with leading zeros goes on with numbers of its width that need none: 08 to 11.
  for (const width of widths)
    for (const number of numbers)
      if (/^0./.test(number) && number.length === width && left.has(number)) runs.push(takeRun(number, width, left));
  for (const number of numbers) if (left.has(number)) runs.push(takeRun(number, 0, left));
  return `[${runs.join(',')}]`;
}

/** Takes out `first` and the numbers that follow it, and answers them as an item of a bracket. */
function takeRun(first: string, width: number, left: Set<string>): string {
  let last = first;
  let next = first;
  while (left.delete(next)) {
    last = next;
    next = String(BigInt(last) + 1n).padStart(width, '0');
    if (width > 0 && next.length > width) break;
  }
  return last === first ? first : `${first}-${last}`;
}

function escaped(text: string): string {
  return text.replace(/[,[\]\\!@\s]/gu, '\\$&');
}

function readTerms(characters: readonly string[]): Term[] {
  const terms: Term[] = [];
  let at = 0;
  for (;;) {
    const { term, end } = readTerm(characters, at);
    terms.push(term);
    if (end >= characters.length) return terms;
    at = end + 1;
  }
}

/** Reads the term that begins at `start`; `end` is the `,` after it, or the end of the text. */
function readTerm(characters: readonly string[], start: number): { term: Term; end: number } {
  let at = start;
  const skipBlanks = () => {
    while (/^\s$/u.test(characters[at] ?? '')) at += 1;
  };
  skipBlanks();
  const begin = at;
  const takesAway = characters[at] === '!';
  if (takesAway) at += 1;
  const isTag = characters[at] === '@';
  if (isTag) at += 1;
  const pieces: Piece[] = [];
  let literal = '';
  /** Length of the literal without the blanks at its end that are not escaped. */
  let kept = 0;
  const endLiteral = (length: number) => {
    if (length > 0) pieces.push(literal.slice(0, length));
    literal = '';
    kept = 0;
  };
  for (; at < characters.length && characters[at] !== ','; at += 1) {
    const character = characters[at] ?? '';
    if (character === ']') throw bad(at, '] closes no bracket; write \\] for the character');
    if (character === '[') {
      endLiteral(literal.length);
      const { ranges, end } = readBracket(characters, at);
      pieces.push(ranges);
      at = end;
      continue;
    }
    const isEscape = character === '\\';
    if (isEscape) at += 1;
    const meant = characters[at];
    if (meant === undefined) throw bad(at - 1, 'a character must follow \\; write \\\\ for the character');
    literal += meant;
    if (isEscape || !/^\s$/u.test(meant)) kept = literal.length;
  }
  endLiteral(kept);
  if (pieces.length === 0) throw bad(begin, 'a name is missing here');
  return { term: { takesAway, isTag, pieces, at: begin }, end: at };
}

/** Reads the bracket that opens at `open`; `end` is where it closes. */
function readBracket(characters: readonly string[], open: number): { ranges: NumberRange[]; end: number } {
  const end = characters.findIndex((character, index) => index > open && (character === ']' || character === '['));
  if (end === -1 || characters[end] === '[') throw bad(open, 'this bracket is not closed; write \\[ for the character');
  const ranges: NumberRange[] = [];
  let at = open + 1;
  for (const item of characters.slice(at, end).join('').split(',')) {
    ranges.push(readRange(item, at));
    at += [...item].length + 1;
  }
  return { ranges, end };
}

function readRange(item: string, at: number): NumberRange {
  const [whole, first = '', last = first, step = '1'] = /^([0-9]+)(?:-([0-9]+)(?:\/([0-9]+))?)?$/.exec(item) ?? [];
  if (whole === undefined) {
    const plain = /^[0-9]*(?:(?<=[0-9])-[0-9]*(?:(?<=[0-9])\/[0-9]*)?)?/.exec(item)?.[0] ?? '';
    throw bad(at + plain.length, 'a bracket holds numbers: 7, 1-9 or 1-9/2, joined by commas');
  }
  const isPadded = /^0./.test(first) || /^0./.test(last);
  if (isPadded && first.length !== last.length)
    throw bad(at, `${first} and ${last} differ in width; with leading zeros both bounds have the same`);
  if (BigInt(last) < BigInt(first)) throw bad(at, `${first}-${last} counts down; write ${last}-${first}`);
  if (BigInt(step) === 0n) throw bad(at + item.length - step.length, 'a step is at least 1');
  return {
    first: BigInt(first),
    count: (BigInt(last) - BigInt(first)) / BigInt(step) + 1n,
    step: BigInt(step),
    width: isPadded ? first.length : 0,
  };
}

/** How many texts a term makes; at least one more than there may be, when there are too many. */
function countOf({ pieces }: Term): bigint {
  let count = 1n;
  for (const piece of pieces) {
    if (typeof piece !== 'string') count *= piece.reduce((sum, range) => sum + range.count, 0n);
    if (count > HOSTLIST_NAMES) return count;
  }
  return count;
}

function textsOf({ pieces }: Term): string[] {
  return pieces.reduce<string[]>(
    (texts, piece) => {
      const parts = typeof piece === 'string' ? [piece] : piece.flatMap(numbersOf);
      return texts.flatMap((text) => parts.map((part) => text + part));
    },
    [''],
  );
}

function numbersOf({ first, count, step, width }: NumberRange): string[] {
  return Array.from({ length: Number(count) }, (_, index) => String(first + BigInt(index) * step).padStart(width, '0'));
}

const tagOf =
  (at: number) =>
  (text: string): HostlistTag => {
    const split = text.indexOf('=');
    if (split < 1) throw bad(at, 'a tag is written @key=value; write \\@ for the character');
    return { key: text.slice(0, split), value: text.slice(split + 1) };
  };

function bad(position: number, why: string): Error {
  return musterError('bad_hostlist', `Character ${position} of the hostlist: ${why}.`, 'hosts', [
    { code: 'bad_hostlist', message: why, position },
  ]);
}

function tooLarge(position: number): Error {
  const most = HOSTLIST_NAMES.toLocaleString('en');
  return musterError('hostlist_too_large', `The hostlist makes more than ${most} names.`, 'hosts', [
    { code: 'hostlist_too_large', message: `with this term there are more than ${most} names`, position },
  ]);
}
