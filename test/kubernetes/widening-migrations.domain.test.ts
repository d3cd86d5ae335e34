import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../support/source-tree.ts';

/** The last migration of the time before releases ran beside each other. */
const BEFORE = '0018';
const FOLDER = join(ROOT, 'store', 'migrations');
const files = readdirSync(FOLDER).filter((name) => /^[0-9]{4}-/.test(name) && name.slice(0, 4) > BEFORE);

/** What an older release that still runs would stumble over, as found in a migration's statements. */
function narrowing(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').toLowerCase();
  const rules: [string, RegExp][] = [
    ['drops', /\bdrop\s+(table|column|type|view|schema|function|trigger)\b/],
    ['renames', /\brename\s+(to|column)\b/],
    ['changes a column', /\balter\s+column\s+\S+\s+(type|set\s+(not\s+null|data))\b/],
    [
      'adds a column that must be given',
      /\badd\s+column\s+(?:(?!default|,|`|').)*\bnot\s+null\b(?:(?!default|,|`|').)*(,|`|'|$)/,
    ],
    [
      'adds a constraint to what is there',
      /\balter\s+table\b[^`']*\badd\s+(constraint|check|unique|foreign|primary)\b/,
    ],
    ['empties', /\b(truncate|delete\s+from)\b/],
  ];
  return rules.filter(([, rule]) => rule.test(code)).map(([name]) => name);
}

describe('a migration only widens, so that the release before it goes on', () => {
  test.each(files)('%s', (name) => {
    expect(narrowing(readFileSync(join(FOLDER, name), 'utf8'))).toEqual([]);
  });

  test('there are some', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  test.each([
    ['alter table sessions drop column name', 'drops'],
    ['drop table leases', 'drops'],
    ['alter table a rename to b', 'renames'],
    ['alter table a alter column b type text', 'changes a column'],
    ['alter table a alter column b set not null', 'changes a column'],
    ['alter table a add column b text not null', 'adds a column that must be given'],
    ['alter table a add constraint c check (b > 0)', 'adds a constraint to what is there'],
    ['delete from sessions', 'empties'],
  ])('%s is noticed', (statement, word) => {
    expect(narrowing(`await sql\`${statement}\`.execute(db)`)).toEqual([word]);
  });

  test.each(['create table a (b text not null)', "alter table a add column b jsonb not null default '{}'"])(
    '%s is not',
    (statement) => {
      expect(narrowing(`await sql\`${statement}\`.execute(db)`)).toEqual([]);
    },
  );
});
