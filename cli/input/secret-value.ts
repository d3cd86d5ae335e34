import { text } from 'node:stream/consumers';
import type { CliContext } from '../context.ts';
import { interrupted, usage } from '../failure.ts';

/**
 * The value of a secret from stdin. On a terminal it is asked for and not shown. The line end after a single line is not part
 * of the value (`echo value | ...`); a value of several lines (a key) stays as it is.
 */
export async function readSecretValue(context: CliContext, label: string): Promise<string> {
  const given = context.stdin.isTTY ? await askHidden(context, label) : await text(context.stdin);
  const value = /^[^\n]*\r?\n$/.test(given) ? given.replace(/\r?\n$/, '') : given;
  if (value === '') throw usage('the value on stdin is empty', `pipe it: ./muster secret set ${label} < FILE`);
  return value;
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
