/** Every rule of CFS that a comment, a test or a document cites is explained in docs/cfs-rules.md, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../support/source-tree.ts';
import { citationsIn, compareRules, rulesOf } from './cfs-citations.ts';

const PAGE = 'docs/cfs-rules.md';
/** They speak of the form itself, also of wrong forms. */
const OWN = ['test/architecture/cfs-rules.domain.test.ts', 'test/architecture/cfs-citations.ts'];
const SKIPPED = new Set(['node_modules', 'dist', 'generated']);
const TEXTS = /(?:\.(?:m?[jt]s|tsx|py|sh|md|ya?ml|cfg|txt|toml)|(?:^|\/)Dockerfile)$/;

function textsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') || SKIPPED.has(entry.name) ? [] : textsIn(path);
    return entry.isFile() && TEXTS.test(path) && path !== PAGE && !OWN.includes(path) ? [path] : [];
  });
}

const FOUND = textsIn('').map((path) => ({ path, ...citationsIn(readFileSync(join(ROOT, path), 'utf8')) }));
const RULES = rulesOf(readFileSync(join(ROOT, PAGE), 'utf8'));

describe('rules of CFS', () => {
  test('there is something to look at', () => {
    expect(FOUND.filter(({ cited }) => cited.length > 0).length).toBeGreaterThan(200);
  });

  test('every citation has a heading on the page', () => {
    const known = new Set(RULES.map(({ rule }) => rule));
    const dead = FOUND.flatMap(({ path, cited }) =>
      cited.filter((rule) => !known.has(rule)).map((rule) => `${path}: ${rule}`),
    );
    expect(dead).toEqual([]);
  });

  test('every heading is cited, stands there once and in order', () => {
    const cited = new Set(FOUND.flatMap((file) => file.cited));
    expect(RULES.map(({ rule }) => rule)).toEqual([...cited].sort(compareRules));
  });

  test('every citation has the form that the page explains', () => {
    expect(FOUND.flatMap(({ path, odd }) => odd.map((text) => `${path}: ${text}`))).toEqual([]);
  });

  test('every rule is one sentence', () => {
    const sentence = /^[A-Z](?:[^.]|\.(?! [A-Z]))*\.$/;
    expect(RULES.filter(({ text }) => !sentence.test(text))).toEqual([]);
  });
});

describe('citations', () => {
  test.each([
    ['(cfs-api 6.3). Next', ['cfs-api 6.3']],
    ['cfs-flows 5.2.b, 8.11: both', ['cfs-flows 5.2.b', 'cfs-flows 8.11']],
    ['cfs-api 10, cfs-flows 1.1', ['cfs-api 10', 'cfs-flows 1.1']],
    ['/**\n * equal (cfs-api\n * 6.3.1). */', ['cfs-api 6.3.1']],
    ["cfs-decision h and cfs-api 9: v2's", ['cfs-decision h', 'cfs-api 9']],
    ['host cray-cfs-api, docs/cfs-rules.md, cfs-flows N', []],
  ])('%j', (text, cited) => {
    expect(citationsIn(text)).toEqual({ cited, odd: [] });
  });

  test.each([
    'cfs-api 8-10',
    'cfs-api 6.3 rule 6',
    'cfs-flows 8, row 13',
    'cfs-flows 2, rules 7 and 8',
    'cfs-flows 6.1 and 9',
    'cfs-api 12; 15.18',
    '(cfs-flows 5.2 c)',
    'cfs-flows, decision h',
  ])('%j has another form', (text) => {
    expect(citationsIn(text).odd).toHaveLength(1);
  });
});
