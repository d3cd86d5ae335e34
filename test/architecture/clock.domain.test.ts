import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT, readSourceTree } from '../support/source-tree.ts';

/**
 * Control, store and activities are given the time: an argument `now`, or `clock()` of what they work with. How long something takes is
 * measured by `performance.now()`. Files that read the clock all the same, how often, and why. A number may only fall.
 */
const READ_THE_CLOCK: Record<string, readonly [times: number, why: string]> = {
  'control/temporal/deadline.ts': [1, 'deadlines of gRPC are instants of the clock of the process'],
};

/** A call of the clock, outside of comments. */
const readsOf = (text: string): number =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/ .*/, ''))
    .join('\n')
    .match(/new Date\(\s*\)|new Date\b(?!\s*\()|\bDate\.now\b/g)?.length ?? 0;

test.each([
  ['const now = new Date();', 1],
  ['const at = new Date( );', 1],
  ['const later = Date.now() + 5;', 1],
  ['const read = Date.now;', 1],
  ['const made = () => new Date;', 1],
  ['const then = new Date(0);', 0],
  ['// new Date() is forbidden', 0],
  ['/** Date.now() is forbidden. */', 0],
  ["const url = 'http://x'; const now = new Date();", 1],
])('%s reads the clock %d times', (text, times) => {
  expect(readsOf(text)).toBe(times);
});

test('control, store and activities are given the time', () => {
  const reading = readSourceTree()
    .filter(({ path }) => /^(control|store|activities)\//.test(path))
    .map(({ path }) => [path, readsOf(readFileSync(join(ROOT, path), 'utf8'))] as const)
    .filter(([, times]) => times > 0);
  const allowed = Object.entries(READ_THE_CLOCK).map(([path, [times]]) => [path, times] as const);
  expect(Object.fromEntries(reading)).toEqual(Object.fromEntries(allowed));
});
