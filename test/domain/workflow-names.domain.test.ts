import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { ROOT, readSourceTree } from '../support/source-tree.ts';

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the names are those that the bundle exports', () => {
  const exported = textOf('workflows/index.ts').match(/(?<=^export \{ ).*(?= \} from )/gm) ?? [];
  const lines = textOf('workflows/index.ts').match(/^export /gm) ?? [];
  expect(exported).toHaveLength(lines.length);
  expect(Object.values(WORKFLOWS).sort()).toEqual(exported.sort());
});

test('no other file of the product spells a name', () => {
  const spelt = new RegExp(`['"\`](${Object.values(WORKFLOWS).join('|')})['"\`]`);
  const product = readSourceTree().filter(({ path }) => !/^(test|bench)\//.test(path));
  const spelling = product.filter(({ path }) => spelt.test(textOf(path))).map(({ path }) => path);
  expect(spelling).toEqual(['domain/engine/workflow-names.ts']);
});
