import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../support/source-tree.ts';
import { cli } from '../support/stack/command-line.ts';

/** What tells people which commands to type. */
const TOLD = ['README.md', 'docs/**/*.md', 'deploy/chart/muster/templates/NOTES.txt'];
const OF_ALL = ['--help', '--version'];

test('no command that people are told to type has an option before its verb, where none is known', () => {
  const files = globSync(TOLD, { cwd: ROOT });
  expect(files).toContain('deploy/chart/muster/templates/NOTES.txt');
  const wrong = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\.\/muster\s+(-[^\s`]+)/g)].flatMap(
      ([command, option = '']) => (OF_ALL.includes(option) ? [] : [`${file}: ${command}`]),
    ),
  );
  expect(wrong).toEqual([]);
});

test('each command that a page of the web UI tells people to type is there', async () => {
  const files = globSync('web/src/**/*.{ts,tsx}', { cwd: ROOT });
  const told = files.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/\.\/muster ([a-z-]+(?: [a-z][a-z-]*|(?= --)))([^`'<\n]*)/g),
    ].map(([, words = '', rest = '']) => ({ file, words, options: rest.match(/(?<= )--?[a-z-]+/g) ?? [] })),
  );
  expect(told.length).toBeGreaterThan(5);
  const wrong: string[] = [];
  for (const { file, words, options } of told) {
    const { exit, out } = await cli([...words.split(' '), '--help']);
    const isThere =
      exit === 0 &&
      out.startsWith(`Usage: muster ${words} `) &&
      options.every((option) => new RegExp(`\\s${option}[\\s,]`).test(out));
    if (!isThere) wrong.push(`${file}: ${words} ${options.join(' ')}`);
  }
  expect(wrong).toEqual([]);
});
