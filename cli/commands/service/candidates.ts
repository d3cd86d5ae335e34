/** What may come next in a command line, by the tree of commands. */
import type { Argument, Command, Option } from 'commander';
import { takesValue } from '../../globals.ts';

export interface Candidate {
  word: string;
  /** What it means, in a line. */
  text: string;
}

/** Names of records of a kind, such as `session`; `url`: of the API that the words name; `before`: the arguments so far. */
export type NamesOf = (kind: string, url: string | undefined, before: readonly string[]) => Promise<readonly string[]>;

/** Flags whose value is the name of a record. */
const NAMED: Readonly<Record<string, string>> = {
  configuration: 'configuration',
  config: 'configuration',
  operator: 'operator',
  component: 'component',
  emitter: 'resource',
  receiver: 'resource',
};

/** What a place of a help names: everywhere, or of one noun alone. */
const PLACES: Readonly<Record<string, string>> = {
  hosts: 'component',
  configuration: 'configuration',
  cluster: 'cluster',
  deployment: 'deployment',
  plan: 'plan',
  resource: 'resource',
  emitter: 'resource',
  receiver: 'resource',
  'rollout configuration': 'rollout',
  'image image': 'image',
  'change uid': 'change',
  'operator kind': 'operator-kind',
  'operator name': 'operator-resource',
  // Reconciles have no list of their own.
  'operator id': 'reconcile',
  'deployment resource': 'object',
};
/** Verbs whose first word is the name of a record that is not there yet. */
const MAKERS: ReadonlySet<string> = new Set(['create', 'add']);

/** Flags of the whole command line with their values; undefined: any. */
const EVERYWHERE: Readonly<Record<string, { text: string; values?: readonly string[]; names?: string }>> = {
  '--context': { text: 'context to use', names: 'context' },
  '--token-file': { text: 'file with the token' },
  '--color': { text: 'when there are colours', values: ['auto', 'always', 'never'] },
};
const FLAGS: Readonly<Record<string, string>> = {
  '--quiet': 'no messages but errors and warnings',
  '--no-input': 'ask nothing',
};

/** Where the words have led to. */
interface Place {
  command: Command;
  /** Arguments that stand before the last word. */
  given: string[];
  /** The flag whose value the last word is. */
  open: { flag: string; option: Option | undefined } | undefined;
  /** The value of `--url`. */
  url: string | undefined;
  /** Another context is named: what its server has is not known here. */
  isElsewhere: boolean;
}

/** Returns what the last word, which is unfinished, may become: verbs, flags, words that are fixed, and names of records. */
export async function candidates(root: Command, words: readonly string[], names: NamesOf): Promise<Candidate[]> {
  // bash takes `--output=json` apart.
  const last = words.at(-1) ?? '';
  const unfinished = last === '=' ? '' : last;
  const place = placeOf(root, words.slice(0, -1), last === '=');
  const all = await atPlace(root, place, unfinished, (kind) =>
    place.isElsewhere && kind !== 'context' ? Promise.resolve([]) : names(kind, place.url, place.given),
  );
  return all.filter(({ word }) => word.startsWith(unfinished));
}

function placeOf(root: Command, words: readonly string[], isValue: boolean): Place {
  const place: Place = { command: root, given: [], open: undefined, url: undefined, isElsewhere: false };
  for (const [index, word] of words.entries()) {
    if (word === '=') continue;
    if (place.open !== undefined && (words[index - 1] === '=' || !word.startsWith('-') || isOpen(place.open))) {
      noteValue(place, place.open.flag, word);
      place.open = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2);
      const option = place.command.options.find(({ long, short }) => long === flag || short === flag);
      const open = { flag, option };
      if (value !== undefined) noteValue(place, flag, value);
      else if (isOpen(open)) place.open = open;
    } else {
      const verb = place.given.length === 0 ? verbOf(place.command, word) : undefined;
      if (verb === undefined) place.given.push(word);
      else place.command = verb;
    }
  }
  if (isValue && place.open === undefined) place.given.push('');
  return place;
}

/** A flag that is not known here may be that of a verb to come. */
const isOpen = ({ flag, option }: NonNullable<Place['open']>): boolean =>
  option === undefined ? takesValue(flag) : option.required;

function noteValue(place: Place, flag: string, value: string): void {
  if (flag === '--url') place.url = value;
  if (flag === '--context') place.isElsewhere = true;
}

const verbOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word));

async function atPlace(
  root: Command,
  { command, given, open }: Place,
  unfinished: string,
  names: (kind: string) => Promise<readonly string[]>,
): Promise<Candidate[]> {
  const noun = command.parent === null || command.parent === root ? command.name() : command.parent.name();
  if (open !== undefined) return valuesOf(noun, open, names);
  if (unfinished.startsWith('-')) return flagsOf(command);
  if (command.commands.length > 0 && given.length === 0) {
    const verbs = command.createHelp().visibleCommands(command);
    return verbs.map((verb) => ({ word: verb.name(), text: verb.description() }));
  }
  const argument = argumentAt(command, given.length);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return plain(argument.argChoices);
  const kind = MAKERS.has(command.name()) && argument.name() === 'name' ? undefined : kindOf(noun, argument.name());
  return kind === undefined ? [] : plain(await names(kind));
}

/** The argument in this place; the last one may come again. */
function argumentAt({ registeredArguments: all }: Command, given: number): Argument | undefined {
  const last = all.at(-1);
  return all[given] ?? (last?.variadic ? last : undefined);
}

/** What the word of a help stands for; `name` and `id` are those of the noun's own records. Undefined: of no records. */
function kindOf(noun: string, word: string): string | undefined {
  return PLACES[`${noun} ${word}`] ?? PLACES[word] ?? (word === 'name' || word === 'id' ? noun : undefined);
}

async function valuesOf(
  noun: string,
  { flag, option }: NonNullable<Place['open']>,
  names: (kind: string) => Promise<readonly string[]>,
): Promise<Candidate[]> {
  const everywhere = EVERYWHERE[flag];
  if (everywhere?.values) return plain(everywhere.values);
  if (everywhere?.names) return plain(await names(everywhere.names));
  if (option?.argChoices) return plain(option.argChoices);
  const word = /<([^>.]+)/.exec(option?.flags ?? '')?.[1] ?? '';
  // The name that a flag takes is seldom that of a record of the noun.
  const kind = NAMED[option?.attributeName() ?? ''] ?? (/^(name|id)$/.test(word) ? undefined : kindOf(noun, word));
  return kind === undefined ? [] : plain(await names(kind));
}

function flagsOf(command: Command): Candidate[] {
  const own = command.createHelp().visibleOptions(command);
  return [
    ...own.map(({ long, short, description }) => ({ word: long ?? short ?? '', text: description })),
    ...Object.entries(EVERYWHERE).map(([word, { text }]) => ({ word, text })),
    ...Object.entries(FLAGS).map(([word, text]) => ({ word, text })),
  ];
}

const plain = (words: readonly string[]): Candidate[] => words.map((word) => ({ word, text: '' }));
