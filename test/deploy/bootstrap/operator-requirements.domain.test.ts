/** What operators have of Python is what sessions have, at the same versions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..');

function pins(...path: string[]): Map<string, string> {
  const lines = readFileSync(join(ROOT, ...path), 'utf8').split('\n');
  const pinned = lines.map((line) => /^([\w.-]+)==(\S+)$/.exec(line));
  return new Map(pinned.flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const])));
}

const operator = pins('ansible', 'requirements-operator.txt');

test.each([
  ['sessions', pins('ansible', 'requirements.txt')],
  ['the execution environment', pins('deploy', 'images', 'aee', 'collection-requirements.txt')],
])('packages that %s have as well are of one version', (_, others) => {
  const shared = [...operator.keys()].filter((name) => others.has(name));
  expect(shared.length).toBeGreaterThan(5);
  expect(shared.map((name) => `${name}==${operator.get(name)}`)).toEqual(
    shared.map((name) => `${name}==${others.get(name)}`),
  );
});

test('operators have all that sessions have', () => {
  expect([...pins('ansible', 'requirements.txt').keys()].filter((name) => !operator.has(name))).toEqual([]);
});

test('collections come from one release of the package of all', () => {
  const of = (...path: string[]) => pins(...path).get('ansible');
  expect(of('ansible', 'collections', 'operator.txt')).toBe(of('deploy', 'images', 'aee', 'collections.txt'));
});
