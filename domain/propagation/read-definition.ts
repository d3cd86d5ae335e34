/** A definition out of its `meta.yaml` and the names of its files. */
import { musterError } from '../errors.ts';
import { someOf } from '../some-of.ts';
import { variableMistakes } from './ansible-action.ts';
import {
  type ActionDefinition,
  type Definition,
  type ExitOutcomes,
  inputsOf,
  LATER_HANDLERS,
  LATER_INPUT_MEMBERS,
  LATER_MEMBERS,
  type Meta,
  MetaSchema,
  PLACE_INPUTS,
} from './definition-schema.ts';
import { checkValues, formMistake } from './freeze.ts';
import { CANONICAL_ACTIONS } from './item-state.ts';
import { isActionName } from './resource-name.ts';
import { storedTag } from './tags.ts';

export const META_FILE = 'meta.yaml';
/** The value of an input that stands for an id of its own in each resource. */
export const OWN_ID = '$uuid';

/** All files of a definition: number and bytes at most. */
export const MOST_FILES = 2_000;
const LARGEST = 16 * 1_048_576;
const LONGEST_PATH = 1_024;

/**
 * Whether files may be kept: paths are relative, lead to files inside the definition, and none is the folder of another.
 * Throws `validation_failed`, `value_too_large`.
 * @param sizes path and bytes of each file
 */
export function checkFiles(sizes: ReadonlyMap<string, number>): void {
  if (sizes.size > MOST_FILES) {
    throw musterError('value_too_large', `The definition has ${sizes.size} files; at most ${MOST_FILES} are allowed`);
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (bytes > LARGEST) {
    throw musterError('value_too_large', `The definition has ${bytes} bytes; at most ${LARGEST} are allowed`);
  }
  const folders = new Set([...sizes.keys()].flatMap(foldersOf));
  for (const path of sizes.keys()) {
    if (!isInside(path)) {
      throw musterError(
        'validation_failed',
        `${JSON.stringify(path.slice(0, 300))} is no path inside a definition: it must be relative, with no empty, . or .. segment`,
        'files',
      );
    }
    if (folders.has(path)) {
      throw musterError('validation_failed', `${path.slice(0, 300)} is a file and a folder as well`, 'files');
    }
  }
  if (!sizes.has(META_FILE)) throw musterError('validation_failed', `The definition has no ${META_FILE}`, 'files');
}

/** Whether a path is relative, without a segment that is empty, `.` or `..`, and can be written to every disk. */
export function isInside(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such a name could not be written to every disk.
  if (path.length > LONGEST_PATH || /[\\\u0000-\u001f]/.test(path) || !path.isWellFormed()) return false;
  return path.split('/').every((segment) => !['', '.', '..'].includes(segment) && segment.length <= 255);
}

function foldersOf(path: string): string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_segment, index) => segments.slice(0, index + 1).join('/'));
}

/**
 * Reads a definition.
 * Throws `validation_failed` for another form, `not_supported` for members, inputs and handlers of parts that are not built.
 * @param meta `meta.yaml`, as YAML reads it
 * @param files paths of all files
 */
export function readDefinition(meta: unknown, files: Iterable<string>, name: string): Definition {
  const mistake = formMistake(meta);
  if (mistake !== null) throw musterError('validation_failed', `${META_FILE} ${mistake}`, META_FILE);
  refuseLaterParts(meta);
  const read = MetaSchema.safeParse(meta ?? {});
  if (!read.success) {
    const mistakes = read.error.issues.map(({ path, message }) =>
      [path.map(String).join('.'), message].filter(Boolean).join(': '),
    );
    throw musterError('validation_failed', `${META_FILE} has another form: ${someOf(mistakes, '; ')}`, META_FILE);
  }
  const { id = name, version, handler, tags, limits } = read.data;
  const inputs = inputsOf(read.data.input);
  for (const input of variableMistakes({ handler, inputs })) {
    throw musterError(
      'validation_failed',
      `Input ${input} has the name of a variable that directs Ansible or that Muster sets: give the input another name`,
      `${META_FILE}: input.${input}`,
    );
  }
  checkValues(Object.fromEntries(Object.entries(inputs).map(([input, { value }]) => [input, value])));
  return {
    id,
    version,
    handler,
    actions: actionsOf(read.data, new Set(files)),
    inputs,
    tags: [...new Set(tags.map((tag) => storedTag(tag) ?? tag))].sort(),
    type_limit: limits.type_limit ?? null,
  };
}

function refuseLaterParts(meta: unknown): void {
  if (!isObject(meta)) return;
  const { handler, input } = meta;
  for (const member of LATER_MEMBERS) {
    if (member in meta && !isEmptyList(meta[member])) throw notSupported(`${member} of a definition`, member);
  }
  if (typeof handler === 'string' && LATER_HANDLERS.includes(handler))
    throw notSupported(`Handler ${handler}`, 'handler');
  if (!isObject(input)) return;
  for (const [name, definition] of Object.entries(input)) {
    if (!isObject(definition)) continue;
    for (const member of LATER_INPUT_MEMBERS) {
      if (member in definition) throw notSupported(`${member} of an input`, `input.${name}.${member}`);
    }
    if (definition.value === OWN_ID && !PLACE_INPUTS.some((place) => place === name)) {
      throw notSupported(`${OWN_ID} in an input other than ${PLACE_INPUTS.join(' and ')}`, `input.${name}.value`);
    }
  }
}

function notSupported(part: string, field: string) {
  return musterError('not_supported', `${part} is not supported`, `${META_FILE}: ${field}`);
}

/** An explicit list wins over what lies in the folder. With handler `none` the canonical actions are there without a file. */
function actionsOf(meta: Meta, files: ReadonlySet<string>): Record<string, ActionDefinition> {
  const found = meta.actions === undefined ? discovered(files) : Object.entries(meta.actions);
  const executes = meta.handler !== 'none';
  const actions = new Map<string, ActionDefinition>();
  if (!executes) for (const action of CANONICAL_ACTIONS) actions.set(action, actionOf({}, null, meta.outcomes));
  for (const [action, given] of found) {
    const file = given.file === undefined ? null : `actions/${given.file}`;
    if (executes && file === null) {
      throw musterError('validation_failed', `Action ${action} has no file`, `${META_FILE}: actions.${action}`);
    }
    if (file !== null && !files.has(file)) {
      throw musterError(
        'validation_failed',
        `The file ${file} of action ${action} is not there`,
        `${META_FILE}: actions.${action}`,
      );
    }
    actions.set(action, actionOf(given, file, meta.outcomes));
  }
  return Object.fromEntries([...actions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function actionOf(
  given: Partial<NonNullable<Meta['actions']>[string]>,
  file: string | null,
  outcomes: ExitOutcomes = {},
): ActionDefinition {
  const { repeatable = true, repeat_priority = 0, timelimit = 0, timeout = 0 } = given;
  const { retry = 0, retry_on = 'failure', backoff = 0 } = given;
  return {
    ...{ file, repeatable, repeat_priority, timelimit, timeout, retry, retry_on, backoff },
    outcomes: given.outcomes ?? outcomes,
  };
}

/** Every file right in the folder `actions`; the action is its name without extension. */
function discovered(files: ReadonlySet<string>): [string, { file: string }][] {
  const found = new Map<string, string>();
  for (const path of [...files].sort()) {
    const [, file] = /^actions\/([^/]+)$/.exec(path) ?? [];
    if (file === undefined) continue;
    const action = file.replace(/(?<=.)\.[^.]*$/, '');
    if (!isActionName(action)) {
      throw musterError('validation_failed', `${path} does not begin with the name of an action`, 'files');
    }
    const other = found.get(action);
    if (other !== undefined) {
      throw musterError('validation_failed', `actions/${other} and ${path} are both action ${action}`, 'files');
    }
    found.set(action, file);
  }
  return [...found].map(([action, file]) => [action, { file }]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
