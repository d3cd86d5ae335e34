import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { PLAIN_KEYS } from '../../domain/secrets/credentials.ts';
import type { CliContext } from '../context.ts';
import { interrupted, usage } from '../failure.ts';
import { fileTrouble } from './file-trouble.ts';

/**
 * The value of a secret from stdin. On a terminal it is asked for and not shown. The line end after a single line is not part
 * of the value (`echo value | ...`); a value of several lines (a key) stays as it is.
 */
export async function readSecretValue(
  context: CliContext,
  label: string,
  example = `./muster secret set ${label} < FILE`,
): Promise<string> {
  if (context.stdin.isTTY && context.noInput)
    throw usage(`${label} would have to be typed, and nothing is to be asked`, `pipe it: ${example}`);
  const given = context.stdin.isTTY ? await askHidden(context, label) : await text(context.stdin);
  const value = withoutLineEnd(given);
  if (value === '') throw usage('the value on stdin is empty', `pipe it: ${example}`);
  return value;
}

/** One value of a secret that is to be set: `KEY`, `KEY=-`, `KEY=@FILE`, or `KEY=TEXT` for what is no secret. */
export interface SecretEntry {
  key: string;
  from: { stdin: true } | { file: string } | { text: string };
}

/** Takes the entries of a command line apart; a secret itself must not stand there, since other users see it. */
export function readSecretEntries(entries: readonly string[]): SecretEntry[] {
  const read = entries.map(readEntry);
  if (read.filter(({ from }) => 'stdin' in from).length > 1) {
    throw usage('stdin can be the value of one key only', 'write KEY=@FILE for the others');
  }
  const twice = read.find(({ key }, index) => read.findIndex((other) => other.key === key) !== index);
  if (twice) throw usage(`the key ${twice.key} is given twice`);
  return read;
}

/** The value of an entry. */
export async function readSecretEntry(context: CliContext, name: string, { key, from }: SecretEntry): Promise<string> {
  if ('text' in from) return from.text;
  if ('stdin' in from) return readSecretValue(context, `${name} ${key}`);
  let given: string;
  try {
    given = await readFile(from.file, 'utf8');
  } catch (error) {
    throw usage(`${from.file} cannot be read: ${fileTrouble(error)}`);
  }
  const value = withoutLineEnd(given);
  if (value === '') throw usage(`${from.file} is empty`, `write the value of ${key} into it`);
  return value;
}

function readEntry(entry: string): SecretEntry {
  const equals = entry.indexOf('=');
  if (equals < 0) return { key: entry, from: { stdin: true } };
  const [key, value] = [entry.slice(0, equals), entry.slice(equals + 1)];
  if (key === '') throw usage('a key is missing before =', 'write KEY=@FILE, or KEY=- for stdin');
  if (value === '-') return { key, from: { stdin: true } };
  if (value.startsWith('@')) return { key, from: { file: value.slice(1) } };
  if (PLAIN_KEYS.has(key)) return { key, from: { text: value } };
  throw usage(
    `the value of ${key} would stand in the list of processes`,
    `write ${key}=@FILE, or ${key}=- for stdin; whoever has seen the value there may know it now`,
  );
}

/** The line end after a single line is not part of a value. */
function withoutLineEnd(given: string): string {
  return /^[^\n]*\r?\n$/.test(given) ? given.replace(/\r?\n$/, '') : given;
}

/** Reads one line of a terminal without showing it; Backspace, Ctrl-U and Ctrl-C work. */
async function askHidden(context: CliContext, label: string): Promise<string> {
  const { stdin } = context;
  context.err.write(`value of ${label} (not shown): `);
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8');
  try {
    let value = '';
    for await (const chunk of stdin) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n' || character === '\u0004') return value;
        if (character === '\u0003') throw interrupted();
        if (character === '\u007f' || character === '\b') value = value.slice(0, -1);
        else if (character === '\u0015') value = '';
        else value += character;
      }
    }
    return value;
  } finally {
    stdin.setRawMode?.(false);
    context.err.write('\n');
  }
}
