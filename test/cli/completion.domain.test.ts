/** What a shell is offered, by the words so far. */
import { expect, test } from '@jest/globals';
import { candidates } from '../../cli/commands/service/candidates.ts';
import { commandTree } from '../support/docs/command-tree.ts';

const KNOWN: Readonly<Record<string, string[]>> = {
  session: ['nightly', 'nightly-2', 'web-1'],
  component: ['n1', 'n2', 'x1'],
  configuration: ['web', 'database'],
  context: ['prod', 'test'],
};
const asked: [string, string | undefined][] = [];
const offered = async (...words: string[]) => {
  asked.length = 0;
  const names = async (kind: string, url: string | undefined) => {
    asked.push([kind, url]);
    return KNOWN[kind] ?? [];
  };
  return (await candidates(commandTree(), words, names)).map(({ word }) => word);
};

test('nouns and verbs, without what no person sees', async () => {
  expect(await offered('se')).toEqual(['session', 'secret']);
  expect(await offered('')).not.toContain('complete');
  expect(await offered('session', 'ca')).toEqual(['cancel']);
  expect(await offered('-o', 'json', 'session', 'ca')).toEqual(['cancel']);
});

test('flags of the verb and of the whole command line', async () => {
  expect(await offered('session', 'run', '--debug')).toEqual(['--debug-on-failure']);
  expect(await offered('session', 'list', '--no-')).toEqual(['--no-headers', '--no-input']);
  expect(await offered('session', 'list', '--dry-run-')).toEqual([]);
});

test('words that are fixed', async () => {
  expect(await offered('session', 'list', '-o', 'js')).toEqual(['json', 'jsonl']);
  expect(await offered('session', 'list', '--output', '=', 'js')).toEqual(['json', 'jsonl']);
  expect(await offered('session', 'list', '--output', '=')).toContain('yaml');
  expect(await offered('component', 'list', '--status', 'f')).toEqual(['failed']);
  expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await offered('--color', '')).toEqual(['auto', 'always', 'never']);
});

test('names of records, of the server that the words name', async () => {
  expect(await offered('session', 'get', 'nig')).toEqual(['nightly', 'nightly-2']);
  expect(await offered('session', 'get', 'nightly', '')).toEqual([]);
  expect(await offered('session', 'delete', 'nightly', 'w')).toEqual(['web-1']);
  expect(await offered('session', 'run', '--configuration', 'w')).toEqual(['web']);
  expect(await offered('component', 'set', '--config', '')).toEqual(['web', 'database']);
  expect(await offered('drift', 'check', 'n')).toEqual(['n1', 'n2']);
  expect(await offered('--url', 'http://a', 'session', 'get', '')).toHaveLength(3);
  expect(asked).toEqual([['session', 'http://a']]);
});

test('names of another context are not those of this one', async () => {
  expect(await offered('--context', 'te')).toEqual(['test']);
  expect(await offered('session', 'get', '--context', 'test', '')).toEqual([]);
  expect(asked).toEqual([]);
});

test('a flag without a value takes no word away', async () => {
  expect(await offered('session', 'wait', '--timeout', '5', 'nig')).toEqual(['nightly', 'nightly-2']);
  expect(await offered('component', 'disable', '--dry-run', 'x')).toEqual(['x1']);
});
