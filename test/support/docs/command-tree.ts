import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import type { CliContext } from '../../../cli/context.ts';
import { program } from '../../../cli/program.ts';

/** The tree of all commands, of which none is to be carried out. */
export function commandTree(): Command {
  const sink = { write: () => undefined, terminal: false, columns: () => 120 };
  const context: CliContext = {
    out: sink,
    err: sink,
    stdin: new PassThrough().end(),
    version: '1.2.3',
    defaultUrl: 'http://127.0.0.1:1',
    tokenFor: async () => undefined,
    stackTokenFor: async () => undefined,
    signal: new AbortController().signal,
    now: () => 0,
    exit: 0,
  };
  return program(context);
}
