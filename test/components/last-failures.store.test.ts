/** What failed components have in common, as the store reads it of their last messages. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { groupFailures, idsOfFailure, lineWithoutHost, signatureOfLine } from '../../store/components/last-failures.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function signature(message: string | null, host: string): Promise<string | undefined> {
  const line = lineWithoutHost(sql`${message}::text`, sql`${host}::text`);
  const { rows } = await sql<{ found: string }>`select ${signatureOfLine(line)} as found`.execute(database.db);
  return rows[0]?.found;
}

describe('the signature of a failure', () => {
  test.each([
    ['Install: rc 100: node013 has no slurmd', 'node013', 'Install: rc N: HOST has no slurmd'],
    ['took 12.5 s at 2026-11-27T10:00:00Z', 'n1', 'took N.N s at TIME'],
    ['at 2026-11-27 10:00, 2026-11-27T10:00:00.5+01:00', 'n1', 'at TIME, TIME'],
    ['no /tmp/ansible-abc12/x.py', 'n1', 'no PATH'],
    ['no /root/.ansible/tmp/ansible-tmp-17/AnsiballZ.py', 'n1', 'no PATH'],
    ['no /tmpfs/x and no /tmp', 'n1', 'no /tmpfs/x and no /tmp'],
    ['id 9f86d081884c7d65 at 0xdeadBEEF', 'n1', 'id HEX at HEX'],
    ['of 01234567-89ab-4cde-8f01-23456789ABCD, not x01234567', 'n1', 'of HEX, not xN'],
    ['the facade is defaced', 'n1', 'the facade is defaced'],
    ['\r\n \u00a0first \r\nsecond', 'n1', 'first'],
    ['n.1 is not nx1', 'n.1', 'HOST is not nxN'],
    ['x'.repeat(400), 'n1', 'x'.repeat(300)],
    ['', 'n1', ''],
    [' \n ', 'n1', ''],
    [null, 'n1', ''],
  ])('of %j', async (message, host, expected) => {
    expect(await signature(message, host)).toBe(expected);
  });
});

const FLEET = 1_500;

test('hosts whose messages differ by the host alone are one group, however many there are', async () => {
  const { db } = database;
  const layers = [{ clone_url: 'https://git.test/plays.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await db
    .insertInto('configurations')
    .values({ name: 'web', record: JSON.stringify({ name: 'web', layers }), updated_at: new Date(), actor: null })
    .execute();
  await sql`insert into components (id, desired_config, error_count, retry_policy, enabled, tags, state, updated_at, actor)
    select 'node' || n, 'web', 3, 3, true, '{}', '[]', now(), null from generate_series(1, ${FLEET + 2}::integer) n`.execute(
    db,
  );
  const { id } = await makeSession(db);
  await sql`insert into host_results (run_id, session_id, layer, attempt, host, status, ok, changed, failures, unreachable, skipped, rescued,
      ignored, message)
    select 'run', ${id}::uuid, 0, 1, 'node' || n, 'failed', 0, 0, 1, 0, 0, 0, 0,
      case when n > ${FLEET} then 'another cause' else 'node' || n || ' has no room: rc ' || n end
    from generate_series(1, ${FLEET + 1}::integer) n`.execute(db);

  const groups = await groupFailures(db);
  expect(groups).toEqual([
    expect.objectContaining({ count: FLEET, message: expect.stringMatching(/^node\d+ has no room: rc \d+$/) }),
    expect.objectContaining({
      count: 1,
      message: 'another cause',
      host: `node${FLEET + 1}`,
      session: { id, name: expect.any(String) },
    }),
    expect.objectContaining({ count: 1, message: null, host: `node${FLEET + 2}`, session: null }),
  ]);
  const found = await Promise.all(groups.map(({ failure }) => idsOfFailure(db, failure)));
  expect(found.map(({ length }) => length)).toEqual([FLEET, 1, 1]);
  expect(found[0]).toEqual(expect.arrayContaining(['node1', `node${FLEET}`]));
  // Addresses that were noted down go on: the id is of the signature alone.
  expect(groups.map(({ failure }) => failure)).toEqual(['f616e7bc21d31fed', 'ff8a53f712388fbc', 'fe3b0c44298fc1c1']);
  expect(await idsOfFailure(db, 'f000000000000000')).toEqual([]);
});
