import { describe, expect, test } from '@jest/globals';
import { scanFile } from '../support/import-scanner.ts';

/** Specifiers, those of type-only imports with a `?`. */
const of = (source: string) =>
  scanFile(source).imports.map(({ specifier, typeOnly }) => specifier + (typeOnly ? '?' : ''));

describe('finds', () => {
  test.each([
    ["import a from 'x';", ['x']],
    ['import a from "x"', ['x']],
    ["import * as a from 'x';", ['x']],
    ["import a, { b as c } from 'x';", ['x']],
    ["import 'x';", ['x']],
    ["import type A from 'x';", ['x?']],
    ["import type { A } from 'x';", ['x?']],
    ["import type * as A from 'x';", ['x?']],
    ["import type{A}from'x';", ['x?']],
    ["import type from 'x';", ['x']],
    ["import type, { A } from 'x';", ['x']],
    ["import { type A, type B } from 'x';", ['x']],
    ["import {\n  a,\n  type B,\n} from 'x';", ['x']],
    ["export { a } from 'x';", ['x']],
    ["export * from 'x';", ['x']],
    ["export * as a from 'x';", ['x']],
    ["export type { A } from 'x';", ['x?']],
    ["export type * from 'x';", ['x?']],
    ["const a = await import('x');", ['x']],
    ["import(\n  'x'\n).then(run);", ['x']],
    ["type A = import('x').B;", ['x?']],
    [`const a = \`\${\`\${await import('x')}\`}\`;`, ['x']],
    ["import { a /* from 'y' */ } from 'x'; // import 'z'", ['x']],
    ["import a from 'x';import b from 'y';", ['x', 'y']],
    ["const r = /[/']/; import a from 'x';", ['x']],
    ["import a from 'x' with { type: 'json' };", ['x']],
    ["#!/usr/bin/env node\nimport 'x';", ['x']],
  ])('%s', (source, found) => {
    expect(of(source)).toEqual(found);
  });
});

describe('does not find', () => {
  test.each([
    "// import a from 'x';",
    "/**\n * import a from 'x'\n */",
    `const text = "import a from 'x'";`,
    "const text = `import a from 'x'; import('y')`;",
    "Array.from('x');",
    'const a = import.meta.dirname;',
    "loader.import('x');",
    "export const a = { from: 'x' };",
  ])('%s', (source) => {
    expect(of(source)).toEqual([]);
  });
});

test('a dynamic import of a name that is made when it runs is none', () => {
  expect(of('const name = f(); await import(name);')).toEqual([]);
});

test.each([
  ["import a, { b as c, type D } from 'x';", ['default', 'b']],
  ["import * as a from 'x';", ['*']],
  ["import 'x';", []],
  ["export { a as b, type C } from 'x';", ['a']],
  ["export * from 'x';", ['*']],
  ["export * as a from 'x';", ['*']],
  ["await import('x');", ['*']],
])('names that are imported: %s', (source, names) => {
  expect(scanFile(source).imports.map((found) => found.names)).toEqual([names]);
});

test('says on which line, whatever was read before', () => {
  const source =
    "/* zwölf\nlines */\nimport a from 'x';\n\nimport {\n  b,\n} from 'y';\nconst t = `\n\n`;\nimport('z');\nprocess.env.A;\n";
  for (const scanned of [scanFile(source), scanFile(source)]) {
    expect(scanned.imports.map(({ specifier, line }) => [specifier, line])).toEqual([
      ['x', 3],
      ['y', 5],
      ['z', 11],
    ]);
    expect(scanned.environmentLines).toEqual([12]);
  }
});

test('finds queries and the environment, not their names in a text', () => {
  const { queryLines, environmentLines } = scanFile(
    "db.selectFrom('a');\nsql`select`;\nsql<{ a: 1 }>`select`;\nconst t = 'process.env sql`x` .selectFrom(';\nprocess.env;\n",
  );
  expect(queryLines).toEqual([1, 2, 3]);
  expect(environmentLines).toEqual([5]);
});
