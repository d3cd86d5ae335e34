import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SETTINGS } from '../../config/environment.ts';
import { CHART_VALUES } from '../support/docs/chart-values.ts';
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

test('every setting stands in the generated table, by its whole name', () => {
  const told = firstCells(read(DOCS, 'configuration.md')).flatMap((cell) => cell.match(/MUSTER_[A-Z_]+/g) ?? []);
  expect(told.sort()).toEqual([...SETTINGS].sort());
});

test('the generated table names the values of the chart for all settings that the chart sets, and values that there are', () => {
  const set = new Set(read(CHART, 'templates', '_environment.tpl').match(/MUSTER_[A-Z_]+/g));
  expect(Object.keys(CHART_VALUES).sort()).toEqual([...set].sort());
  const values = parse(read(CHART, 'values.yaml'));
  const valueAt = (path: string) => path.split('.').reduce((value, name) => value?.[name], values);
  const paths = Object.values(CHART_VALUES).filter((path) => path !== 'fixed');
  expect(paths.filter((path) => valueAt(path) === undefined)).toEqual([]);
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
