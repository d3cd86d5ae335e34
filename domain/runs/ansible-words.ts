/** Why Ansible ended a run, in its own words: taken from the end of the run's output, in one line. */

import { collectionOfModule } from './module-collections.ts';

/** Longest sentence, in characters; the whole is in the output. */
const WORDS_MAX = 600;
/** Names of a limit that matched nothing which are told at most. */
const NAMES_MAX = 5;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
const COLOURS = /\u001b\[[0-9;]*m/g;
/** How ansible-core of 2.11 to 2.19, its command line and Muster's launcher begin an error. */
const ERROR = /^(?:\[ERROR\]:|ERROR!|ERROR:|ansible-playbook: error:|\[muster\]) *(.*)$/gm;
/** Lines that tell of a host, or that the playbook came to its end: an error before them has not ended the run. */
const HOST_LINE =
  /^(?:(?:fatal|failed|ok|changed|skipping|included|rescued|ignored): \[|\S+ \| (?:FAILED|UNREACHABLE|SUCCESS|CHANGED|SKIPPED)|PLAY RECAP)/gm;
const TASK_FAILED = /^Task failed\b/;
/** What ends the first paragraph of an error. */
const PARAGRAPH_END =
  /^(?:\s*|Origin: .*|<<< caused by >>>|Traceback .*|The error appears to .*|The offending line .*)$/;
const ORIGIN = /^Origin: (\S.*?)(?::(\d+))?(?::\d+)?$/m;
const APPEARS = /The error appears to (?:be|have been) in '([^']+)': line (\d+)/;
const UNMATCHED = /Could not match supplied host pattern, ignoring: (\S+)/g;
const NO_HOSTS = /leaves us with no hosts to target/;
const INTERRUPTED = /User interrupted execution\s*$/;
const TRACEBACK = /^Traceback \(most recent call last\):$/m;
const EXCEPTION = /^[A-Za-z_][\w.]*(?:Error|Exception|Exit)\b.*$/;

/** The error that ended the run; null where its output tells of none. `output` is its end, with secrets masked. */
export function ansibleError(output: string): string | null {
  const text = output.replace(COLOURS, '').replace(/\r\n?/g, '\n');
  const from = Math.max(-1, ...[...text.matchAll(HOST_LINE)].map(({ index }) => index));
  const errors = [...text.matchAll(ERROR)].filter(
    ({ index, 1: words = '' }) => index > from && !TASK_FAILED.test(words),
  );
  const first = errors[0];
  if (first === undefined) return withoutPrefix(text, Math.max(0, from));
  const rest = text.slice(first.index, errors[1]?.index);
  const words = paragraph(first[1] ?? '', rest.split('\n').slice(1));
  const names = NO_HOSTS.test(words) ? unmatched(text) : '';
  return `${shortened(`${withoutFolders(words)}${names}${placeIn(rest, words)}`)}${collectionHint(words)}`;
}

/** How Ansible says that there is no module of a short name; a long one has its collection in front. */
const NO_MODULE = /couldn't resolve module\/action '(\w{1,200})'/;

/** Which collection a module that was not found belongs to, and what to do; nothing where that is not known. */
function collectionHint(words: string): string {
  const module = NO_MODULE.exec(words)?.[1];
  if (module === undefined) return '';
  const collection = collectionOfModule(module);
  if (collection === undefined) return '';
  return ` The module is of the collection ${collection}, which is not installed here: name it in collections/requirements.yml, and install it for the runner or put it into the repository`;
}

/** Errors without a prefix: an interruption, and an exception of Python itself. */
function withoutPrefix(text: string, from: number): string | null {
  const rest = text.slice(from);
  if (INTERRUPTED.test(rest)) {
    return `User interrupted execution${rest.includes('(debug)>') ? ' at the prompt of the task debugger' : ''}`;
  }
  if (!TRACEBACK.test(rest)) return null;
  const exception = rest.split('\n').findLast((line) => EXCEPTION.test(line));
  return exception === undefined ? null : shortened(withoutFolders(exception));
}

function paragraph(first: string, lines: readonly string[]): string {
  const end = lines.findIndex((line) => PARAGRAPH_END.test(line));
  return [first, ...lines.slice(0, end < 0 ? lines.length : end)].join(' ').replace(/\s+/g, ' ').trim();
}

function unmatched(text: string): string {
  const names = [...new Set([...text.matchAll(UNMATCHED)].map(([, name = '']) => name))];
  if (names.length === 0) return '';
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
  return ` Not in the inventory: ${names.slice(0, NAMES_MAX).join(', ')}${more}`;
}

/** Where the error is written, as `site.yml:5` below the layer's folder. */
function placeIn(text: string, words: string): string {
  const [, path, line] = APPEARS.exec(text) ?? ORIGIN.exec(text) ?? [];
  if (path === undefined || path.startsWith('<')) return '';
  const place = `${relative(path)}${line === undefined ? '' : `:${line}`}`;
  return withoutFolders(words).includes(place) ? '' : ` (${place})`;
}

/** The folder of a layer on a worker or in a pod, whose name says nothing to a reader. */
const LAYER_FOLDER = /\/[^\s:'"]*\/layer\d+(?:\/|(?=[\s:'"]|$))/g;

function relative(path: string): string {
  const below = path.replace(LAYER_FOLDER, '');
  if (below !== path) return below;
  const [, collection] = path.split('/ansible_collections/');
  return collection ?? path.split('/').at(-1) ?? path;
}

const withoutFolders = (words: string): string => words.replace(LAYER_FOLDER, '');

function shortened(words: string): string {
  return words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX - 1)}…` : words;
}
