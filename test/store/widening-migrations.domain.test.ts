import { describe, expect, test } from '@jest/globals';
import {
  DummyDriver,
  Kysely,
  type Migration,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { MIGRATIONS } from '../../store/migrations/index.ts';

/** The last migration of the time before releases ran beside each other. */
const BEFORE = '0018';
const later = Object.entries(MIGRATIONS).filter(([name]) => name.slice(0, 4) > BEFORE);

/** What an older release that still runs would stumble over; the first group of a rule, if it has one, is the table. */
const RULES: [string, RegExp][] = [
  ['drops', /\bdrop\s+(?:table|column|type|view|schema|function|trigger|constraint|index|default|extension)\b/],
  ['renames', /\brename\s+(?:to|column|constraint)\b/],
  ['changes a column', /\balter\s+column\s+\S+\s+(?:type|set\s+(?:not\s+null|data))\b/],
  [
    'adds a column that must be given',
    /^alter\s+table\s+(\S+).*\badd\s+column\s(?:(?!default|,).)*\bnot\s+null\b(?!(?:(?!,).)*\bdefault\b)/,
  ],
  [
    'adds a constraint to what is there',
    /^alter\s+table\s+(\S+).*\badd\s+(?:constraint|check|unique|foreign|primary)\b/,
  ],
  ['adds a constraint to what is there', /^create\s+unique\s+index\b.*?\bon\s+(?:only\s+)?(\S+)/],
  ['does more with what older ones write', /^create\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\b.*?\bon\s+(\S+)/],
  ['changes a function', /^create\s+or\s+replace\s+(?:function|procedure|view)\b/],
  ['empties', /^(?:truncate|delete\s+from)\s+(\S+)/],
  ['changes what older ones have written', /^(?:with\b.*\b)?(?:update|merge\s+into)\s+(\S+)/],
];

/** A function that triggers of the audit call, with the same name and row shape: older releases only call it (decision 0047). */
const AUDIT_FUNCTION = /^create or replace function audit_[a-z_]+_(?:insert|update|delete)\(\) returns trigger /;

/** The statements of a migration, as the database would get them. */
async function statementsOf({ up }: Migration): Promise<string[]> {
  const statements: string[] = [];
  const db = new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (one) => new PostgresIntrospector(one),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  await up(db);
  return statements;
}

/** What of a migration narrows, as the words of its rules; with a table that it makes itself it may do as it likes. */
async function narrowing(migration: Migration): Promise<string[]> {
  const own = new Set<string>();
  const found: string[] = [];
  for (const statement of await statementsOf(migration)) {
    const line = statement.toLowerCase().replaceAll('"', '').replace(/\s+/g, ' ').trim();
    const [, made] = /^create table (?:if not exists )?([^\s(]+)/.exec(line) ?? [];
    if (made !== undefined) own.add(made);
    if (AUDIT_FUNCTION.test(line)) continue;
    for (const [word, rule] of RULES) {
      const [whole, table = ''] = rule.exec(line) ?? [];
      if (whole !== undefined && !own.has(table.replace(/\(.*/, ''))) found.push(word);
    }
  }
  return found;
}

/** A migration of these statements. */
const of = (...statements: string[]): Migration => ({
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

describe('a migration only widens, so that the release before it goes on', () => {
  test.each(later)('%s', async (_name, migration) => {
    expect((await statementsOf(migration)).length).toBeGreaterThan(0);
    expect(await narrowing(migration)).toEqual([]);
  });

  test('there are some', () => {
    expect(later.length).toBeGreaterThan(0);
  });

  test.each([
    ['alter table sessions drop column name', 'drops'],
    ['drop table leases', 'drops'],
    ['alter table a drop constraint b', 'drops'],
    ['drop index concurrently a_b', 'drops'],
    ['alter table a alter column b drop default', 'drops'],
    ['alter table a rename to b', 'renames'],
    ['alter table a alter column b type text', 'changes a column'],
    ['alter table a alter column b set not null', 'changes a column'],
    ['alter table a add column b text not null', 'adds a column that must be given'],
    ['alter table a add column b text not null, add column c text', 'adds a column that must be given'],
    ['alter table a add constraint c check (b > 0)', 'adds a constraint to what is there'],
    ['create unique index a_b on a (b)', 'adds a constraint to what is there'],
    ['create trigger t after insert on a for each row execute function f()', 'does more with what older ones write'],
    ['create or replace function f() returns trigger language plpgsql as $$ begin end $$', 'changes a function'],
    ['create or replace function audit_masked(value jsonb) returns jsonb language sql as $$ $$', 'changes a function'],
    [
      'create or replace function audit_a_update(b text) returns trigger language plpgsql as $$ $$',
      'changes a function',
    ],
    ['create or replace function audit_a_update() returns void language plpgsql as $$ $$', 'changes a function'],
    ['create or replace trigger audit_a_update after update on a', 'does more with what older ones write'],
    ['delete from sessions', 'empties'],
    [`update sessions set name = 'a'`, 'changes what older ones have written'],
  ])('%s is noticed', async (statement, word) => {
    expect(await narrowing(of(statement))).toEqual([word]);
  });

  test('what the query builder says is noticed', async () => {
    const up: Migration['up'] = (db) => db.schema.alterTable('sessions').dropColumn('name').execute();
    expect(await narrowing({ up })).toEqual(['drops']);
  });

  test.each([
    ['create table a (b text not null)'],
    [`alter table a add column b jsonb not null default '{}'`],
    [`alter table a add column b text default '' not null`],
    ['create index a_b on a (b)'],
    ['create or replace function audit_a_update() returns trigger language plpgsql as $$ begin end $$'],
    ['create function f() returns trigger language plpgsql as $$ begin update a set b = 1; return null; end $$'],
    [
      'create table a (b text)',
      'create unique index a_b on a(b)',
      'create trigger t after update on a execute function f()',
    ],
  ])('%s is not', async (...statements) => {
    expect(await narrowing(of(...statements))).toEqual([]);
  });
});
