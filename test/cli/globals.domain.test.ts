/** Flags of the whole command line, wherever they stand, and the help of any command. */
import { describe, expect, test } from '@jest/globals';
import { readGlobals, takeGlobals, withHelp } from '../../cli/globals.ts';

describe('flags before the verb', () => {
  test.each([
    ['session list -o json', 'session list -o json'],
    ['-o json session list', 'session list -o json'],
    ['session -o json list', 'session list -o json'],
    ['-ojson session list', 'session list -ojson'],
    ['--output=json session list x', 'session list --output=json x'],
    ['--url http://a --no-headers component list n1', 'component list --url http://a --no-headers n1'],
    ['--dry-run component disable x1', 'component disable --dry-run x1'],
    ['component --dry-run=request disable x1', 'component disable --dry-run=request x1'],
    ['--yes status', 'status --yes'],
    ['--time iso', '--time iso'],
    ['-o json', '-o json'],
    ['session run s -- -o x', 'session run s -- -o x'],
    ['-o json session -- list', 'session -o json -- list'],
    ['--nonsense session list', '--nonsense session list'],
  ])('%s', (given, words) => {
    expect(takeGlobals(given.split(' ')).words.join(' ')).toBe(words);
  });
});

describe('flags of the whole command line', () => {
  test.each([
    ['--context prod session list', 'session list', { context: 'prod' }],
    ['session --context=prod list', 'session list', { context: 'prod' }],
    ['session list --context prod n1', 'session list n1', { context: 'prod' }],
    ['-q session list --no-input', 'session list', { quiet: true, noInput: true }],
    ['session list --token-file a=b --color never', 'session list', { tokenFile: 'a=b', color: 'never' }],
    ['complete -- session --context', 'complete -- session --context', {}],
    ['session list --quiet=yes', 'session list --quiet=yes', {}],
    ['constructor toString', 'constructor toString', {}],
  ])('%s', (given, words, globals) => {
    expect(takeGlobals(given.split(' '))).toEqual({ words: words.split(' '), globals });
  });

  test.each([
    [['--context'], '--context needs a value'],
    [['session', '--color', 'green'], '--color green is not known'],
  ])('%j is refused', (given, sentence) => {
    expect(() => takeGlobals(given)).toThrow(sentence);
    expect(readGlobals(given)).toEqual({ words: given, globals: {} });
  });
});

test.each([
  [[], ['--help']],
  [['help'], ['--help']],
  [
    ['help', 'session', 'run'],
    ['session', 'run', '--help'],
  ],
  [
    ['session', 'help'],
    ['session', 'help'],
  ],
])('the help of %j', (given, words) => {
  expect(withHelp(given)).toEqual(words);
});
