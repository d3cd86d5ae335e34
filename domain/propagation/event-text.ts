/** Events as lines of text: `on mariadb.run changed keystone.run`. */
import { type Mistake, musterError } from '../errors.ts';
import type { PropagationEvent } from './event-schema.ts';
import {
  type KnownModel,
  keywordOf,
  type Read,
  readCondition,
  readEmitter,
  readKeyword,
  readSubscriber,
} from './event-words.ts';

/** A word of a line and where it begins, counted from 1. */
interface Word {
  text: string;
  column: number;
}

/** What a line holds: an event, nothing, or mistakes. */
export interface LineRead {
  event?: PropagationEvent;
  mistakes: Mistake[];
}

const PARTS = ['keyword', 'emitter', 'condition', 'subscriber'] as const;

/**
 * Reads events, each on a line of its own: keyword, emitter, condition, subscriber. A comment begins with `#` at the start of a line or
 * after white space. Returns the events in the order of their lines; an emitter that is a bare resource is written `resource.*`.
 * Throws `event_syntax`, `event_condition`, `event_ambiguous`, `unknown_resource` or `action_not_defined`: the code of the first
 * mistake, with all mistakes and their places in `errors`.
 */
export function parseEvents(
  text: string,
  known: { resources?: Iterable<string>; defines?: KnownModel['defines'] } = {},
): PropagationEvent[] {
  const resources = known.resources === undefined ? undefined : new Set(known.resources);
  const model: KnownModel = { resources, defines: known.defines };
  const reads = text.split(/\r?\n/).map((line, index) => readLine(line, index + 1, model));
  refuseMistakes(reads.flatMap(({ mistakes }) => mistakes));
  return reads.flatMap(({ event }) => event ?? []);
}

/** Returns the line of an event, with one space between its words. */
export function renderEvent({ type, parent, on, child }: PropagationEvent): string {
  return `${keywordOf(type)} ${parent} ${on} ${child}`;
}

/** Throws the first of some mistakes, with all of them in `errors`. */
export function refuseMistakes(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (first === undefined) return;
  const place =
    first.line === undefined ? '' : ` (line ${first.line}${first.column ? `, column ${first.column}` : ''})`;
  const others = mistakes.length - 1;
  const more = others === 0 ? '' : `, and ${others} more mistake${others === 1 ? '' : 's'}`;
  throw musterError(first.code, `${first.message}${place}${more}`, first.field, mistakes);
}

/** Reads one line. Never throws: mistakes are part of the answer. */
export function readLine(line: string, number: number, model: KnownModel): LineRead {
  const words = wordsOf(line);
  if (words.length === 0) return { mistakes: [] };
  const mistakes: Mistake[] = [];
  const at = (code: Mistake['code'], message: string, column: number): void => {
    mistakes.push({ code, message, line: number, column });
  };
  const take = <T>(word: Word | undefined, read: (text: string) => Read<T>): T | undefined => {
    if (word === undefined) return undefined;
    const found = read(word.text);
    if ('value' in found) return found.value;
    at(found.code, found.message, word.column);
    return undefined;
  };
  if (words.length < PARTS.length) return { mistakes: [tooShort(words, number)] };
  const [first, second, third, fourth, fifth] = words;
  const type = take(first, readKeyword);
  const parent = take(second, (word) => readEmitter(word, model));
  const on = take(third, readCondition);
  const child = take(fourth, (word) => readSubscriber(word, model));
  if (fifth !== undefined) at('event_syntax', `'${fifth.text}' is too much: a line holds one event`, fifth.column);
  if (mistakes.length > 0) return { mistakes };
  if (type === undefined || parent === undefined || on === undefined || child === undefined) return { mistakes };
  return { event: { type, parent, on, child }, mistakes };
}

/** The mistake of a line that ends too early. A first word that is no keyword tells more than what is missing. */
function tooShort(words: readonly Word[], number: number): Mistake {
  const [first, last] = [words[0], words.at(-1)];
  const keyword = readKeyword(first?.text ?? '');
  if ('code' in keyword) return { ...keyword, line: number, column: first?.column ?? 1 };
  return {
    code: 'event_syntax',
    message: `the ${PARTS[words.length]} is missing: write on or after, then emitter, condition and subscriber`,
    line: number,
    column: (last?.column ?? 1) + (last?.text.length ?? 0),
  };
}

function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  for (const match of line.matchAll(/[^ \t]+/g)) {
    if (match[0].startsWith('#')) break;
    words.push({ text: match[0], column: match.index + 1 });
  }
  return words;
}
