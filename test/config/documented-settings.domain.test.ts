import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SETTINGS } from '../../config/environment.ts';
import { CHART } from '../support/kubernetes/helm.ts';
import { ROOT } from '../support/source-tree.ts';

const DOCS = join(ROOT, 'docs');
const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

/** First cells of the rows of a page's tables. */
const firstCells = (page: string) => [...page.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);

/** Paths of the values that there are; one that holds settings of its own names, or what Kubernetes defines, counts as one. */
function pathsOf(value: unknown, path: string): string[] {
  const isOpen =
    /(^|\.)(resources|requests|limits|podAnnotations|annotations|settings|secretSettings|peers|ports)$/.test(path);
  if (isOpen || typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  const members = Object.entries(value).flatMap(([name, member]) =>
    pathsOf(member, path === '' ? name : `${path}.${name}`),
  );
  return members.length === 0 ? [path] : members;
}

/** The paths that a cell such as `a.b`, `.c` stands for, and whether it stands for all below them: `a.*`. */
function namesIn(cell: string): string[] {
  let before = '';
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    const whole = name.startsWith('.') ? `${before}${name}` : name;
    before = whole.replace(/\.[^.]+$/, '');
    return whole;
  });
}

test('every setting stands in a table of the documents, by its whole name', () => {
  const pages = [DOCS, join(DOCS, 'lanes')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => read(folder, name)),
  );
  const cells = pages.flatMap(firstCells);
  const told = new Set(cells.flatMap((cell) => cell.match(/MUSTER_[A-Z_]+/g) ?? []));
  expect(SETTINGS.filter((name) => !told.has(name))).toEqual([]);
});

test('every value of the chart stands in the table of values, and no other does', () => {
  const [, table = ''] = read(DOCS, 'kubernetes.md').split('## Values');
  const told = firstCells(table.split('\n## ')[0] ?? '')
    .slice(1)
    .flatMap(namesIn);
  const paths = pathsOf(parse(read(CHART, 'values.yaml')), '');
  const covers = (name: string, path: string) =>
    name.endsWith('.*') ? path.startsWith(name.slice(0, -1)) : path === name || path.startsWith(`${name}.`);
  expect(paths.filter((path) => !told.some((name) => covers(name, path)))).toEqual([]);
  expect(told.filter((name) => !paths.some((path) => covers(name, path)))).toEqual([]);
});
