/** Each command has an example in its help, and each example is a command line that is understood. */

import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { examplesOf } from '../../cli/examples.ts';
import { takeGlobals } from '../../cli/globals.ts';
import { commandTree } from '../support/docs/command-tree.ts';

/** Commands without commands below them, by their words. */
function leaves(command: Command, path: string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  // Words that only say what is not built yet are in no help.
  const shown = command.createHelp().visibleCommands(command);
  const verbs = command.commands.filter((verb) => shown.includes(verb));
  return verbs.flatMap((verb) => leaves(verb, [...path, verb.name()]));
}

const seen = leaves(commandTree());

/** Words as a shell takes them apart, with single quotes. */
const shellWords = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

test('there are as many commands as it seems', () => {
  expect(seen.length).toBeGreaterThan(150);
});

test('each command has an example, and its help shows it', () => {
  const without = seen.flatMap(([path]) => (examplesOf(path).length === 0 ? [path] : []));
  expect(without).toEqual([]);
});

test.each(seen.flatMap(([path]) => examplesOf(path).map((example) => [path, example] as const)))(
  '%s: ./muster %s',
  async (path, example) => {
    const root = commandTree();
    const [, leaf] = leaves(root).find(([words]) => words === path) ?? [];
    let isCalled = false;
    leaf?.action(() => {
      isCalled = true;
    });
    await root.parseAsync(takeGlobals(shellWords(example)).words, { from: 'user' });
    expect(isCalled).toBe(true);
  },
);
