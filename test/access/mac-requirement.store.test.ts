/** Signing comes first, refusing second. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { followMacRequirement, type MacRequirement } from '../../control/temporal/mac-requirement.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { connectionName } from '../../store/connection/process-names.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

const KEY = randomBytes(32);
const log = { info: () => undefined, warn: () => undefined };

let database: TestDatabase;
let followed: MacRequirement[];
let others: ReturnType<typeof openDatabase>[];
beforeEach(async () => {
  database = await createTestDatabase();
  followed = [];
  others = [];
});
afterEach(async () => {
  for (const one of followed) await one.stop();
  for (const one of others) await one.destroy();
  await database.close();
});

async function follow(key = KEY): Promise<MacRequirement> {
  const one = await followMacRequirement({ db: database.db, key, log, lookMs: 20 });
  followed.push(one);
  return one;
}
/** A process of that name is connected. */
async function connected(name: string): Promise<ReturnType<typeof openDatabase>> {
  const other = openDatabase({ url: database.url, name });
  others.push(other);
  await sql`select 1`.execute(other);
  return other;
}
const requiredNow = async () =>
  (await database.db.selectFrom('installation').select('mac_required_since').executeTakeFirstOrThrow())
    .mac_required_since;

test('a new installation requires MACs at once', async () => {
  const one = await follow();
  expect(one.requiredSince()?.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
});

test('one with sessions requires them when nobody is left who does not sign, after every process has heard of it', async () => {
  await makeSession(database.db);
  const older = await connected('muster-api');
  await connected(connectionName('muster-worker', { signs: true }));
  const one = await follow();
  expect(one.requiredSince()).toBeNull();
  await older.destroy();
  others = others.filter((other) => other !== older);
  await eventually('the requirement', async () => one.requiredSince() !== null);
  expect(one.requiredSince()?.getTime()).toBeGreaterThan(Date.now() + 10_000);
});

test.each(['muster-api', 'muster-worker', 'muster-images'])(
  'an older %s that comes back takes it away',
  async (name) => {
    const one = await follow();
    expect(one.requiredSince()).not.toBeNull();
    await connected(name);
    await eventually('that it is taken away', async () => one.requiredSince() === null);
  },
);

test('sessions that an older release made meanwhile take it away, those of this release do not', async () => {
  await follow().then((one) => one.stop());
  await makeSession(database.db);
  await follow().then((one) => one.stop());
  const required = await requiredNow();
  expect(required).not.toBeNull();
  await sql`update installation set mac_signer_seen_at = now() - interval '1 hour'`.execute(database.db);
  await follow();
  expect((await requiredNow())?.getTime()).not.toBe(required?.getTime());
});

test('another key is refused, with what to do', async () => {
  await follow();
  await expect(follow(randomBytes(32))).rejects.toMatchObject({
    code: 'mac_key_unusable',
    message: expect.stringContaining('MUSTER_MAC_KEY_FILE'),
  });
});
