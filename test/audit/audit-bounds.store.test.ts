/** Audit records of large values, pages of them, and writes that change nothing. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { listAudit } from '../../control/audit/list-audit.ts';
import { readTimeline } from '../../control/components/read-timeline.ts';
import { MAX_PAGE_BYTES } from '../../domain/page-size.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => sql`truncate audit, components, configurations, schedules cascade`.execute(database.db));

const rows = () => database.db.selectFrom('audit').selectAll().orderBy('id').execute();
const tagged = (id: string, tags: object) =>
  sql`insert into components (id, updated_at, tags, actor) values (${id}, now(), ${JSON.stringify(tags)}::jsonb, 'ann')
    on conflict (id) do update set tags = excluded.tags, updated_at = now()`.execute(database.db);

describe('a value', () => {
  test.each([
    [65_536 - '{"t": ""}'.length, false],
    [65_536 - '{"t": ""}'.length + 1, true],
    [200_000, true],
  ])('of %d characters is cut: %s', async (length, isCut) => {
    const tags = { t: 'x'.repeat(length) };
    await tagged('a', tags);
    const [row] = await rows();
    const text = `{"t": "${tags.t}"}`;
    const cut = {
      cut: text.slice(0, 1_024),
      length: text.length,
      sha256: createHash('sha256').update(text).digest('hex'),
    };
    expect(row?.after).toMatchObject({ enabled: false, tags: isCut ? cut : tags });
  });

  test('of which much is escaped is measured as it is written', async () => {
    await tagged('a', { t: '\u0001'.repeat(11_000) });
    expect((await rows())[0]?.after).toMatchObject({ tags: { length: 66_009 } });
  });

  test('that goes is cut too', async () => {
    await tagged('a', { t: 'x'.repeat(100_000) });
    await tagged('a', { t: 'y' });
    await sql`delete from components`.execute(database.db);
    const [, update, gone] = await rows();
    expect(update).toMatchObject({ before: { tags: { length: 100_009 } }, after: { tags: { t: 'y' } } });
    expect(gone?.before).toMatchObject({ tags: { t: 'y' } });
  });
});

describe('pages', () => {
  test('of what an older release has stored whole are small, and go on behind each other', async () => {
    const large = JSON.stringify({ tags: { t: 'x'.repeat(10_000_000) } });
    await sql`insert into components (id, updated_at) values ('a', now())`.execute(database.db);
    await sql`truncate audit`.execute(database.db);
    await sql`insert into audit (at, action, kind, name, before, after)
      select now() - make_interval(secs => n), 'update', 'component', 'a', ${large}::jsonb, ${large}::jsonb
      from generate_series(1, 5) n`.execute(database.db);
    const { records, after } = await listAudit(database.db, { limit: 100, after_id: '' }, null);
    expect([records.length, after]).toEqual([5, null]);
    expect(records[0]?.after).toMatchObject({ tags: { length: 10_000_009, sha256: expect.any(String) } });
    const { entries } = await readTimeline(database.db, 'a', { limit: 100, after_id: '' });
    expect(JSON.stringify(entries).length).toBeLessThan(50_000);
  });

  test('of many records as large as they may be end in time, and lose none', async () => {
    await sql`insert into components (id, updated_at) values ('a', now())`.execute(database.db);
    await sql`truncate audit`.execute(database.db);
    // Random, so that it cannot be compressed.
    for (let second = 0; second < 150; second += 1) {
      const members = JSON.stringify({ tags: { t: randomBytes(32_000).toString('hex') } });
      await sql`insert into audit (at, action, kind, name, before, after) values
        (now() - make_interval(secs => ${second}::int), 'update', 'component', 'a', ${members}::jsonb, ${members}::jsonb)`.execute(
        database.db,
      );
    }
    for (const read of [
      async (after_id: string) => {
        const { records, after } = await listAudit(database.db, { limit: 1_000, after_id }, null);
        return { page: records, after };
      },
      async (after_id: string) => {
        const { entries, after } = await readTimeline(database.db, 'a', { limit: 1_000, after_id });
        return { page: entries, after };
      },
    ]) {
      const seen = new Set<string>();
      let pages = 0;
      for (let after: string | null = ''; after !== null; pages += 1) {
        const answer: Awaited<ReturnType<typeof read>> = await read(after);
        expect(JSON.stringify(answer.page).length).toBeLessThan(MAX_PAGE_BYTES * 1.05);
        for (const { id } of answer.page) seen.add(id);
        after = answer.after;
      }
      expect([seen.size, pages]).toEqual([150, 3]);
    }
  });
});

describe('a write that changes nothing leaves no record', () => {
  test('of components, each of several by itself', async () => {
    await tagged('a', { t: '1' });
    await tagged('b', { t: '2' });
    await sql`truncate audit`.execute(database.db);
    await sql`update components set tags = '{"t": "1"}', updated_at = now(), actor = 'ann'`.execute(database.db);
    expect((await rows()).map(({ name, before, after }) => [name, before, after])).toEqual([
      ['b', { tags: { t: '2' } }, { tags: { t: '1' } }],
    ]);
  });

  test('of configurations and options, but one that changes the order of a state does', async () => {
    const record = JSON.stringify({ layers: [], last_updated: 'now' });
    await sql`insert into configurations (name, record, updated_at) values ('c', ${record}::jsonb, now())`.execute(
      database.db,
    );
    await sql`insert into components (id, updated_at, state) values ('a', now(), '[{"p": 1}, {"p": 2}]')`.execute(
      database.db,
    );
    await sql`truncate audit`.execute(database.db);
    const later = JSON.stringify({ layers: [], last_updated: 'later' });
    await sql`update configurations set record = ${later}::jsonb`.execute(database.db);
    expect(await rows()).toEqual([]);
    await sql`update components set state = '[{"p": 2}, {"p": 1}]'`.execute(database.db);
    expect(await rows()).toHaveLength(1);
  });

  test('a new value of a secret is one, though nothing of it is shown', async () => {
    await sql`insert into secrets (name, key, ciphertext, updated_at) values ('n', 'k', 'one'::bytea, now())`.execute(
      database.db,
    );
    await sql`update secrets set ciphertext = 'two'::bytea`.execute(database.db);
    expect((await rows()).map(({ action }) => action)).toEqual(['create', 'update']);
  });
});
