/** Reads the flags of `operator run`, in the grammar of Go's flags. */
import { closestWord } from '../closest-word.ts';
import { durationOf } from './duration.ts';
import { FLAGS, type FlagDeclaration, type FlagName } from './flags.ts';

type ValueOf<F extends FlagDeclaration> = F['kind'] extends 'integer'
  ? number
  : F['kind'] extends 'boolean'
    ? boolean
    : string;

/** The value of every flag; undefined where neither the command nor the declaration has one. */
export type FlagValues = {
  [Name in FlagName]: ValueOf<(typeof FLAGS)[Name]> | ((typeof FLAGS)[Name]['default'] & undefined);
};

/** A mistake of the command, with the exit status of the process. */
export interface FlagMistake {
  message: string;
  exit: 1 | 2;
  code: 'usage' | 'not_supported';
}

const WORDS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false])),
};

/** Returns the boolean that a word of Go's grammar says; undefined for any other word. */
export function goBoolean(word: string): boolean | undefined {
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** Returns the values of all flags, and every mistake of the arguments. The values count only where there is no mistake. */
export function readFlags(args: readonly string[]): { flags: FlagValues; mistakes: FlagMistake[] } {
  const mistakes: FlagMistake[] = [];
  const usage = (message: string): number => mistakes.push({ message, exit: 2, code: 'usage' });
  const values = new Map<string, string | number | boolean>();
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [, name = '', inline] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === '') {
      usage(`unexpected argument ${JSON.stringify(arg)}`);
      continue;
    }
    const declared = Object.hasOwn(FLAGS, name) ? (FLAGS as Record<string, FlagDeclaration>)[name] : undefined;
    if (declared === undefined) {
      const meant = closestWord(name, Object.keys(FLAGS));
      usage(`unknown flag --${name}${meant === undefined ? '' : `; did you mean --${meant}?`}`);
      continue;
    }
    let word = inline;
    if (word === undefined && declared.kind === 'boolean') word = 'true';
    if (word === undefined && at + 1 < args.length) {
      at += 1;
      word = args[at];
    }
    if (word === undefined) {
      usage(`--${name} needs a value`);
      continue;
    }
    const value = flagValue(declared, word);
    if (typeof value === 'object') usage(`--${name}: ${value.mistake}`);
    else values.set(name, value);
  }
  mistakes.push(...together(values));
  const flags = Object.fromEntries(
    Object.entries(FLAGS as Record<string, FlagDeclaration>).map(([name, declared]) => [
      name,
      values.get(name) ?? values.get(aliasOf(name) ?? '') ?? declared.default,
    ]),
  );
  return { flags: flags as FlagValues, mistakes };
}

/** The older name of a flag. */
function aliasOf(name: string): string | undefined {
  return Object.entries(FLAGS as Record<string, FlagDeclaration>).find(([, { aliasOf: of }]) => of === name)?.[0];
}

function flagValue(declared: FlagDeclaration, word: string): string | number | boolean | { mistake: string } {
  if (declared.kind === 'boolean') return goBoolean(word) ?? { mistake: `${JSON.stringify(word)} is no boolean` };
  if (declared.kind === 'integer') {
    const [least, most] = declared.range ?? [0, Number.MAX_SAFE_INTEGER];
    const number = /^[+-]?\d+$/.test(word) ? Number(word) : Number.NaN;
    if (number >= least && number <= most) return number;
    return { mistake: `${JSON.stringify(word)} is no integer from ${least} to ${most}` };
  }
  if (declared.kind === 'duration') {
    const duration = durationOf(word);
    return 'mistake' in duration ? duration : word;
  }
  if (declared.words === undefined || declared.words.includes(word)) return word;
  return { mistake: `${JSON.stringify(word)} is not ${declared.words.join(' or ')}` };
}

/** Mistakes that flags make with each other, and values of parts that are not built. */
function together(values: ReadonlyMap<string, string | number | boolean>): FlagMistake[] {
  const mistakes: FlagMistake[] = [];
  for (const name of values.keys()) {
    const alias = aliasOf(name);
    if (alias === undefined || !values.has(alias)) continue;
    mistakes.push({ message: `--${alias} is an older name of --${name}: give one of them`, exit: 1, code: 'usage' });
  }
  if (values.get('metrics-require-rbac') === true && values.get('metrics-secure') !== true) {
    mistakes.push({ message: '--metrics-require-rbac needs --metrics-secure', exit: 2, code: 'usage' });
  }
  const notBuilt = (message: string): number => mistakes.push({ message, exit: 2, code: 'not_supported' });
  if (values.get('event-transport') === 'socket') notBuilt('--event-transport socket: events come by files alone');
  return mistakes;
}
