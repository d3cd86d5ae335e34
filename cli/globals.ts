/** Flags that mean the same for every command, wherever they stand among its words. */
import { usage } from './failure.ts';

/** What the flags of the whole command line say. */
export interface Globals {
  /** Name of the context. */
  context?: string;
  tokenFile?: string;
  color?: Color;
  /** No messages but errors and warnings. */
  quiet?: boolean;
  /** Nothing is asked. */
  noInput?: boolean;
}

const COLORS = ['auto', 'always', 'never'] as const;
export type Color = (typeof COLORS)[number];

/** Flags of the whole command line; the help of each command names them at its end. */
export const GLOBAL_HELP = `
Everywhere: --context <name>, --token-file <file>, --color auto|always|never, -q for no messages but errors and
warnings, --no-input to be asked nothing. They, --url, -o, --columns, --no-headers, --sort, --time, --yes and --dry-run
may stand before the noun, after it and after the verb.`;

/** How each flag of the whole command line is taken up; `value`: it has one. */
const TAKEN: Readonly<Record<string, { value: boolean; take(globals: Globals, value: string): void }>> = {
  '--context': { value: true, take: (globals, value) => Object.assign(globals, { context: value }) },
  '--token-file': { value: true, take: (globals, value) => Object.assign(globals, { tokenFile: value }) },
  '--color': { value: true, take: (globals, value) => Object.assign(globals, { color: colorOf(value) }) },
  '--quiet': { value: false, take: (globals) => Object.assign(globals, { quiet: true }) },
  '-q': { value: false, take: (globals) => Object.assign(globals, { quiet: true }) },
  '--no-input': { value: false, take: (globals) => Object.assign(globals, { noInput: true }) },
};

/** Flags of verbs that may also stand before the verb, and whether they have a value. */
const MOVED: Readonly<Record<string, boolean>> = {
  ...{ '--url': true, '--output': true, '-o': true, '--columns': true, '--sort': true, '--time': true },
  ...{ '--no-headers': false, '--yes': false, '-y': false, '--dry-run': false, '--dry-run=request': false },
};

/** Whether the next word is the value of a flag that may stand before the verb. */
export const takesValue = (flag: string): boolean =>
  (Object.hasOwn(MOVED, flag) && MOVED[flag] === true) || (Object.hasOwn(TAKEN, flag) && TAKEN[flag]?.value === true);

/** Words of a command until its verb. */
const NOUN_AND_VERB = 2;

/**
 * Takes the flags of the whole command line out of its words, and puts flags of the verb that stand before it behind it. What follows `--` is
 * left as it is. Throws a `usage` failure for a flag without its value.
 */
export function takeGlobals(given: readonly string[]): { words: string[]; globals: Globals } {
  const end = given.indexOf('--');
  const flags = end < 0 ? given : given.slice(0, end);
  const globals: Globals = {};
  const words: string[] = [];
  const moved: string[] = [];
  let seen = 0;
  for (let index = 0; index < flags.length; index += 1) {
    const word = flags[index] as string;
    const [name = '', inline] = word.startsWith('--') ? splitAt(word, '=') : [word];
    const taken = Object.hasOwn(TAKEN, name) ? TAKEN[name] : undefined;
    const value = inline ?? flags[index + 1];
    if (taken !== undefined && (taken.value || inline === undefined)) {
      if (taken.value && value === undefined) throw usage(`${name} needs a value`);
      taken.take(globals, value ?? '');
      if (taken.value && inline === undefined) index += 1;
    } else if (seen < NOUN_AND_VERB && isMoved(word, name)) {
      moved.push(word);
      if (MOVED[word] === true && flags[index + 1] !== undefined) {
        index += 1;
        moved.push(flags[index] as string);
      }
    } else {
      words.push(word);
      if (word.startsWith('-')) continue;
      seen += 1;
      if (seen === NOUN_AND_VERB) words.push(...moved.splice(0));
    }
  }
  return { words: [...words, ...moved, ...(end < 0 ? [] : given.slice(end))], globals };
}

/** The same without a refusal: where the words are wrong, the command says so. */
export function readGlobals(words: readonly string[]): ReturnType<typeof takeGlobals> {
  try {
    return takeGlobals(words);
  } catch {
    return { words: [...words], globals: {} };
  }
}

const splitAt = (word: string, sign: string): string[] => {
  const at = word.indexOf(sign);
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
};

/** `--url`, `--url=URL`, `-o json` and `-ojson`. */
const isMoved = (word: string, name: string): boolean =>
  Object.hasOwn(MOVED, word) || (Object.hasOwn(MOVED, name) && MOVED[name] === true) || /^-o[a-z]+$/.test(word);

function colorOf(word: string): Color {
  const color = COLORS.find((known) => known === word);
  if (color === undefined) throw usage(`--color ${word} is not known`, `it is one of ${COLORS.join(', ')}`);
  return color;
}

/** Words of `help noun verb` as the command that shows it; a command line without a word shows the help of all. */
export function withHelp(words: readonly string[]): string[] {
  if (words.length === 0) return ['--help'];
  const [first, ...rest] = words;
  return first === 'help' ? [...rest.filter((word) => !word.startsWith('-')), '--help'] : [...words];
}
