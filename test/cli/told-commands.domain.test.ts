import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../support/source-tree.ts';

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
