/** Whether a tag of any component makes a group of a name: the same answer as that of the rule. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { groupOfTag } from '../../domain/components/inventory/inventory.ts';
import { anyGroupOfTags } from '../../store/components/inventory-components.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const TAGS = [
  ['role', 'web'],
  ['data-centre', 'fra 1'],
  ['k', '\u{1F511}'],
  ['1a', 'äö'],
  ['ansible_user', 'root'],
  ['empty', ''],
] as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const tags = JSON.stringify(Object.fromEntries(TAGS));
  await sql`insert into components (id, tags, updated_at) values ('a', ${tags}::jsonb, now())`.execute(database.db);
});
afterAll(() => database.close());

test.each(TAGS)('of the tag %s=%s', async (key, value) => {
  const makesOne = value !== '' && !key.startsWith('ansible_');
  expect(await anyGroupOfTags(database.db, ['x1000c0s0b0n0', groupOfTag(key, value)])).toBe(makesOne);
});

test.each(['role_we', 'role_webs', 'ole_web', 'x1000c0s0b0n0', 'role.web', '_', 'a'])(
  '%s is no group',
  async (name) => {
    expect(await anyGroupOfTags(database.db, [name])).toBe(false);
  },
);

test('no name is no group', async () => expect(await anyGroupOfTags(database.db, [])).toBe(false));
