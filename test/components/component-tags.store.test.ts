/** Lists and patches by a tag read what has the tag, however large the fleet is. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { selectComponents } from '../../control/components/select-components.ts';
import {
  type ComponentSelection,
  lockComponentPage,
  lockStatelessPage,
  pageComponents,
} from '../../store/components/components.ts';
import type { Database } from '../../store/tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const FLEET = 60_000;
const CHASSIS = 64;
const idOf = (index: number): string => `n${String(index).padStart(6, '0')}`;
const indices = Array.from({ length: FLEET }, (_, index) => index);

let database: TestDatabase;
let pool: pg.Pool;
let db: Kysely<Database>;
const said: CompiledQuery[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void said.push(query),
  });
  await pool.query(
    `insert into components (id, enabled, tags, updated_at)
     select 'n' || lpad(i::text, 6, '0'), i % 2 = 0, jsonb_build_object('chassis', 'c' || i / ${CHASSIS},
       'role', case when i % 3 = 0 then 'compute' else 'application' end, 'nid', i::text), now()
     from generate_series(0, ${FLEET - 1}) as i`,
  );
  await pool.query('vacuum analyze components');
});
afterAll(async () => {
  await db.destroy();
  await database.close();
});

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Loops': number;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** What the database did for the last statement: the indexes it used, whether it read the whole table, and how many rows it read. */
async function readsOfLast(): Promise<{ indexes: string[]; scans: number; rows: number }> {
  const last = said.at(-1);
  if (last === undefined) throw new Error('no statement was said');
  const answer = await pool.query(`explain (analyze, format json) ${last.sql}`, [...last.parameters]);
  const found = { indexes: [] as string[], scans: 0, rows: 0 };
  const walk = (node: PlanNode): void => {
    for (const below of node.Plans ?? []) walk(below);
    if (node['Actual Loops'] === 0) return;
    if (node['Index Name'] !== undefined) found.indexes.push(node['Index Name']);
    if (node['Node Type'].includes('Seq Scan')) found.scans += 1;
    if (node['Relation Name'] === 'components') {
      found.rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
  };
  walk(answer.rows[0]['QUERY PLAN'][0].Plan);
  return found;
}

const tagged = (...tags: [string, string][]): ComponentSelection => ({ tags });
const idsOf = (components: readonly { id: string }[]): string[] => components.map(({ id }) => id);

describe('a tag that few components have', () => {
  const READS = { pages: pageComponents, locked: lockComponentPage, stateless: lockStatelessPage };

  test.each(Object.entries(READS))('%s are read off the index of tags', async (_name, read) => {
    // What the planner guesses depends on which tags are in its sample.
    for (let chassis = 0; chassis < 900; chassis += 90) {
      const found = await read(db, tagged(['chassis', `c${chassis}`]), '', 2_000);
      expect(idsOf(found)).toEqual(indices.slice(chassis * CHASSIS, (chassis + 1) * CHASSIS).map(idOf));
      const { indexes, scans, rows } = await readsOfLast();
      expect(indexes).toContain('components_tags');
      expect({ scans, isFew: rows <= 4 * CHASSIS }).toEqual({ scans: 0, isFew: true });
    }
  });

  test('a page goes on after an id, and ends at its limit', async () => {
    const [first, , third] = [CHASSIS * 7, CHASSIS * 7 + 1, CHASSIS * 7 + 2].map(idOf);
    const page = await pageComponents(db, tagged(['chassis', 'c7']), first ?? '', 2);
    expect(idsOf(page).at(-1)).toBe(third);
    expect(page).toHaveLength(2);
  });

  test('other conditions hold beside it', async () => {
    const selection = { ...tagged(['chassis', 'c3'], ['role', 'compute']), enabled: true };
    const expected = indices.slice(3 * CHASSIS, 4 * CHASSIS).filter((index) => index % 6 === 0);
    expect(idsOf(await pageComponents(db, selection, '', 1_000))).toEqual(expected.map(idOf));
    expect(await pageComponents(db, { ...selection, desiredConfig: 'other' }, '', 1_000)).toEqual([]);
  });

  test('a tag that was written a moment ago counts, and the one before it does not', async () => {
    await pool.query(`update components set tags = tags || '{"chassis": "new"}' where id = $1`, [idOf(0)]);
    expect(idsOf(await pageComponents(db, tagged(['chassis', 'new']), '', 10))).toEqual([idOf(0)]);
    expect(await pageComponents(db, tagged(['chassis', 'c0']), '', 1_000)).toHaveLength(CHASSIS - 1);
    await pool.query(`update components set tags = tags || '{"chassis": "c0"}' where id = $1`, [idOf(0)]);
  });

  test('nothing has the tag', async () => {
    expect(await pageComponents(db, tagged(['chassis', 'none']), '', 1_000)).toEqual([]);
    const { scans } = await readsOfLast();
    expect(scans).toBe(0);
  });
});

test('of a tag that many components have, pages are walked along, each component once', async () => {
  const options = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };
  const found: string[] = [];
  const batches = selectComponents({
    db,
    options,
    selection: tagged(['role', 'compute']),
    status: undefined,
    afterId: '',
    lock: 'none',
  });
  for await (const { components } of batches) found.push(...idsOf(components));
  expect(found).toEqual(indices.filter((index) => index % 3 === 0).map(idOf));

  await pageComponents(db, tagged(['role', 'compute']), '', 1_000);
  expect((await readsOfLast()).rows).toBeLessThan(FLEET);
});
