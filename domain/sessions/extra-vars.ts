/**
 * Extra variables as files: what is on a command line stands in the process list of the machine, for every user of it. A file means the
 * same as the argument: Ansible parses both in one way, but for `name=value` words, which only an argument may have. Those are parsed
 * here as Ansible's `parse_kv` does (ansible/parsing/splitter.py) and written as JSON.
 */
import { musterError } from '../errors.ts';

const ESCAPE = /\\U[a-fA-F0-9]{8}|\\u[a-fA-F0-9]{4}|\\x[a-fA-F0-9]{2}|\\N\{[^}]+\}|\\[\\'"abfnrtv]/g;
const SINGLE: Record<string, string> = {
  '\\\\': '\\',
  "\\'": "'",
  '\\"': '"',
  '\\a': '\u0007',
  '\\b': '\b',
  '\\f': '\f',
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
  '\\v': '\v',
};
/** Python's white space. */
const BLANK = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const AROUND = new RegExp(`^${BLANK}+|${BLANK}+$`, 'g');

function refuse(reason: string): never {
  throw musterError('bad_request', `Error validating ansible-passthrough: ${reason}`, 'ansible_passthrough');
}

/**
 * The text of the file that means the same as the value of one `--extra-vars`; null where the value names a file of the layer, or is empty.
 * Throws `bad_request` for a value that Ansible refuses. The message never has the value.
 */
export function extraVarsFile(value: string): string | null {
  if (value === '' || value.startsWith('@')) return null;
  if (value.startsWith('{') || value.startsWith('[')) return value;
  if (value.startsWith('/') || value.startsWith('.')) {
    refuse('extra variables that begin with / or . are no name=value; a file of the layer is named @FILE');
  }
  return JSON.stringify(parseKeyValues(value));
}

/** `name=value` words as Ansible reads them: quotes, escapes and blocks of Jinja hold together, and all values are texts. */
export function parseKeyValues(text: string): Record<string, string> {
  const found = new Map<string, string>();
  const free: string[] = [];
  for (const word of splitWords(text)) {
    const plain = decodeEscapes(word);
    if (!plain.includes('=')) {
      free.push(word);
      continue;
    }
    let sign = plain.indexOf('=', 1);
    while (sign > 0 && plain.charAt(sign - 1) === '\\') sign = plain.indexOf('=', sign + 1);
    if (sign < 0) free.push(plain.replaceAll('\\=', '='));
    else found.set(strip(plain.slice(0, sign)), unquote(strip(plain.slice(sign + 1))));
  }
  if (free.length > 0) {
    found.set(
      '_raw_params',
      free.reduce((all, word) => (all === '' || all.endsWith('\n') ? all + word : `${all} ${word}`), ''),
    );
  }
  return Object.fromEntries(found);
}

const strip = (text: string): string => text.replace(AROUND, '');

function unquote(text: string): string {
  const quote = text.charAt(0);
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.at(-1) === quote && text.at(-2) !== '\\';
  return isQuoted ? text.slice(1, -1) : text;
}

function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (found) => {
    const single = SINGLE[found];
    if (single !== undefined) return single;
    if (found.startsWith('\\N')) return refuse('extra variables may not name a character by \\N{...}; use \\u');
    const code = Number.parseInt(found.slice(2), 16);
    if (code > 0x10ffff) return refuse('extra variables have an escape \\U beyond 0010ffff');
    return String.fromCodePoint(code);
  });
}

/** The quote that is open behind a token. */
function quoteAfter(token: string, open: string | null): string | null {
  let quote = open;
  for (let at = 0; at < token.length; at++) {
    const char = token.charAt(at);
    if ((char !== '"' && char !== "'") || token.charAt(at - 1) === '\\') continue;
    if (quote === null) quote = char;
    else if (quote === char) quote = null;
  }
  return quote;
}

const BLOCKS = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
] as const;
const occurrences = (text: string, part: string): number => text.split(part).length - 1;

/** Words at blanks and line ends; those of one quote or one block of Jinja stay together, with the white space between. */
function splitWords(text: string): string[] {
  if (text === '') return [];
  const words: string[] = [];
  const glue = (part: string) => {
    if (words.length === 0) words.push('');
    words[words.length - 1] += part;
  };
  const depths = BLOCKS.map(() => 0);
  const inBlock = () => depths.some((depth) => depth > 0);
  let quote: string | null = null;
  const lines = text.split('\n');
  for (const [row, line] of lines.entries()) {
    let goesOn = false;
    for (const [column, token] of line.split(' ').entries()) {
      if (token === '' && column !== 0) {
        glue(' ');
        continue;
      }
      if (token === '\\' && quote === null) {
        goesOn = true;
        continue;
      }
      const was = quote !== null;
      quote = quoteAfter(token, quote);
      const is = quote !== null;
      let placed = false;
      if (is && !was && !inBlock()) {
        words.push(token);
        placed = true;
      } else if (inBlock() || is || was) {
        glue(column > 0 ? ` ${token}` : token);
        placed = true;
      }
      for (const [index, [open, close]] of BLOCKS.entries()) {
        const before = depths[index] ?? 0;
        const after = Math.max(0, before + occurrences(token, open) - occurrences(token, close));
        depths[index] = after;
        if (after !== before && !placed) {
          words.push(token);
          placed = true;
        }
      }
      if (!inBlock() && !is && !placed && token !== '') words.push(token);
    }
    if (row !== lines.length - 1 && !goesOn) glue('\n');
  }
  if (inBlock() || quote !== null) refuse('extra variables have a quote or a block of Jinja that is not closed');
  return words;
}
