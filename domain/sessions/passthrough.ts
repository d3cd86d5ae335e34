import { musterError } from '../errors.ts';
import { extraVarsFile } from './extra-vars.ts';

/** The options that a session may pass through to ansible-playbook (cfs-flows 1.5), by their one canonical name. */
const OPTIONS = ['--extra-vars', '--forks', '--skip-tags', '--start-at-task', '--tags'] as const;
export type PassthroughOption = (typeof OPTIONS)[number];
const SHORT: Record<string, PassthroughOption> = { '-e': '--extra-vars', '-f': '--forks', '-t': '--tags' };
const LONG: readonly string[] = [...OPTIONS, '--help'];

/** Longest pass-through in UTF-8 bytes: Linux refuses one argument of 128 KiB, and a word is never longer than the text. */
const PASSTHROUGH_MAX = 64 * 1024;

export interface PassthroughItem {
  option: PassthroughOption;
  /** Without its quotes. */
  value: string;
}

interface Word {
  /** As written, with quotes: options are recognised here, so that a quoted `"-e"` is a value and never an option. */
  raw: string;
  /** One level of quotes removed. */
  text: string;
}

function refuse(reason: string): never {
  throw musterError('bad_request', `Error validating ansible-passthrough: ${reason}`, 'ansible_passthrough');
}

/**
 * Splits at white space outside quotes. Inside double quotes a backslash keeps the next `"` or `\`; elsewhere it is an
 * ordinary character. Throws `bad_request` for a quote that is not closed.
 */
function splitWords(source: string): Word[] {
  const words: Word[] = [];
  let start = -1;
  let text = '';
  let quote: string | null = null;
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at);
    if (quote !== null) {
      const next = source.charAt(at + 1);
      if (char === quote) quote = null;
      else if (quote === '"' && char === '\\' && (next === '"' || next === '\\')) {
        text += next;
        at++;
      } else text += char;
    } else if (char === ' ' || char === '\t' || char === '\r' || char === '\n') {
      if (start >= 0) words.push({ raw: source.slice(start, at), text });
      start = -1;
      text = '';
    } else {
      if (start < 0) start = at;
      if (char === '"' || char === "'") quote = char;
      else text += char;
    }
  }
  if (quote !== null) refuse(`a quote (${quote}) is not closed`);
  if (start >= 0) words.push({ raw: source.slice(start), text });
  return words;
}

function longOption(name: string): PassthroughOption {
  const matches = LONG.filter((option) => option === name || option.startsWith(name));
  const exact = matches.find((option) => option === name) ?? matches[0];
  if (exact === undefined || name === '--') return refuse(`${name} is not allowed`);
  if (matches.length > 1 && exact !== name) return refuse(`${name} could be ${matches.join(' or ')}`);
  if (exact === '--help') return refuse('--help is not allowed');
  return exact as PassthroughOption;
}

/** The option that begins a word and, where it is in the same word, its value. */
function readOption(word: Word): { option: PassthroughOption; value: string | null } {
  const { raw, text } = word;
  if (!raw.startsWith('-') || raw === '-') return refuse(`${raw} is not an option`);
  if (raw.startsWith('--')) {
    const sign = raw.indexOf('=');
    const name = sign < 0 ? raw : raw.slice(0, sign);
    if (/["']/.test(name)) return refuse(`${raw} is not an option`);
    return { option: longOption(name), value: sign < 0 ? null : text.slice(sign + 1) };
  }
  const option = SHORT[raw.slice(0, 2)];
  if (option === undefined) return refuse(`${raw} is not allowed`);
  if (raw.length === 2) return { option, value: null };
  return { option, value: text.slice(raw.charAt(2) === '=' ? 3 : 2) };
}

/** A file of variables must lie below the playbook's directory: Ansible reads it on the controller. Other variables must be readable. */
function checkValue(option: PassthroughOption, value: string): void {
  if (option === '--forks' && !/^[+-]?[0-9]+$/.test(value)) refuse(`forks must be an integer, not ${value}`);
  if (option !== '--extra-vars') return;
  extraVarsFile(value);
  if (!value.startsWith('@')) return;
  const path = value.slice(1);
  const inside = /^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/.test(path) && !path.split('/').includes('..');
  if (!inside) refuse(`${value} must name a file inside the layer, as a plain relative path`);
}

/**
 * Options of a pass-through in order (cfs-api 9): `-e/--extra-vars`, `-f/--forks` (integer), `--skip-tags`,
 * `--start-at-task`, `-t/--tags`, with `--x=v` and unambiguous prefixes. Throws `bad_request` that names the word for
 * anything else: another option, help, a positional, a missing value, an unclosed quote.
 */
export function parsePassthrough(passthrough: string): PassthroughItem[] {
  if (passthrough.includes('\0')) refuse('it contains a NUL character');
  if (new TextEncoder().encode(passthrough).length > PASSTHROUGH_MAX) {
    refuse(`it is longer than ${PASSTHROUGH_MAX} bytes`);
  }
  const words = splitWords(passthrough);
  const items: PassthroughItem[] = [];
  for (let at = 0; at < words.length; at++) {
    const read = readOption(words[at] as Word);
    let value = read.value;
    if (value === null) {
      const next = words[++at];
      const isValue =
        next !== undefined && (!next.raw.startsWith('-') || next.raw === '-' || /^-[0-9]+$/.test(next.raw));
      if (!isValue) return refuse(`${read.option} needs a value`);
      value = next.text;
    }
    checkValue(read.option, value);
    items.push({ option: read.option, value });
  }
  return items;
}
