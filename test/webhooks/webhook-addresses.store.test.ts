/** Addresses of webhooks in the database: sealed, sealed later, sealed again with another key, and in no record of the audit. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { changeSecretKey, ensureSecretKey } from '../../control/secrets/secret-key.ts';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import { deliverNotifications } from '../../control/webhooks/deliver-notifications.ts';
import { sealOpenAddresses } from '../../control/webhooks/webhook-address.ts';
import { createWebhook, patchWebhook, testWebhook } from '../../control/webhooks/write-webhook.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { connectionName } from '../../store/connection/process-names.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { eventually } from '../support/eventually.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const SHOWN = 'https://hooks.test:8443/***';
const whole = (word: string) => `https://me:${word}@hooks.test:8443/${word}/x?key=${word}`;

let database: TestDatabase;
let dir: string;
let keyFile: string;
const others: ReturnType<typeof openDatabase>[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-webhook-addresses-'));
  keyFile = join(dir, 'secret.key');
  for (const table of ['webhooks', 'secrets', 'audit']) await sql`delete from ${sql.table(table)}`.execute(database.db);
  await sql`update installation set sealing_since = null`.execute(database.db);
});
afterEach(async () => {
  for (const one of others.splice(0)) await one.destroy();
  // The server goes on for a moment with a connection that its client has ended, and the next test would find an older release there.
  await eventually('the connections of others are gone', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and application_name like 'muster-%'`.execute(database.db);
    return rows.length === 0;
  });
  await rm(dir, { recursive: true, force: true });
});

const cipher = () => openSecretCipher(keyFile);
function depsOf() {
  const { db } = database;
  const secrets = createSecretStore(db, cipher(), () => new Date());
  return {
    db,
    secrets,
    addressSeal: openAddressSeal(db, secrets, cipher()),
    clock: () => new Date(Date.now() + 1_000),
  };
}
const ADA = { actor: 'ada' };
const wanted = (word: string) => ({ name: 'ops', url: whole(word), events: ['session.ended' as const] });
const row = () => database.db.selectFrom('webhooks').selectAll().where('name', '=', 'ops').executeTakeFirstOrThrow();
/** As an older release writes it. */
async function older(word: string): Promise<void> {
  await sql`insert into webhooks (name, url, events, enabled, allow_private_redirects, created_at, updated_at, actor)
    values ('ops', ${whole(word)}, '{session.ended}', true, false, now(), now(), 'bob')
    on conflict (name) do update set url = excluded.url`.execute(database.db);
}
/** Everything in the database but what opens it, as text. */
async function dump(): Promise<string> {
  const tables = ['webhooks', 'audit', 'notifications', 'secrets'];
  const texts = tables.map(async (table) => {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(database.db);
    return JSON.stringify(rows, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
  });
  return (await Promise.all(texts)).join('\n');
}
async function audited() {
  const rows = await database.db.selectFrom('audit').selectAll().where('kind', '=', 'webhook').orderBy('id').execute();
  return rows.map(({ action, before, after }) => [action, before, after] as const);
}
async function passed(): Promise<void> {
  await sql`update installation set sealing_since = sealing_since - interval '1 minute'`.execute(database.db);
}
/** Sends a ping and answers where it went to. */
async function sentTo(deps = depsOf(), fail?: (url: string) => Error): Promise<string[]> {
  const urls: string[] = [];
  await testWebhook(deps, ADA, 'ops');
  const send = async ({ url }: { url: string }) => {
    urls.push(url);
    if (fail) throw fail(url);
    return { status: 200, retryAfter: 0 };
  };
  await sql`update notifications set next_try_at = now() - interval '1 hour'`.execute(database.db);
  await deliverNotifications({ ...deps, webhooks: { send } }, 'ops', new AbortController().signal);
  return urls;
}

describe('an address', () => {
  test('is sealed when it is written, stands nowhere else, and is where things are sent to', async () => {
    const made = await createWebhook(depsOf(), ADA, wanted('CANARY'));
    expect(made.url).toBe(SHOWN);
    expect((await row()).url).toBe(SHOWN);
    expect(await sentTo()).toEqual([whole('CANARY')]);
    expect(await dump()).not.toContain('CANARY');
    expect(await audited()).toEqual([['create', null, expect.objectContaining({ url: SHOWN })]]);
  });

  test('that is sent back as it was shown stays, another one of the same host is recorded', async () => {
    const deps = depsOf();
    await createWebhook(deps, ADA, wanted('FIRST'));
    const before = await row();
    expect(await patchWebhook(deps, ADA, 'ops', { url: SHOWN, enabled: true })).toMatchObject({ url: SHOWN });
    expect(await patchWebhook(deps, ADA, 'ops', { url: whole('FIRST') })).toMatchObject({ url: SHOWN });
    expect((await row()).sealed_url).toEqual(before.sealed_url);
    expect(await audited()).toHaveLength(1);
    await patchWebhook(deps, ADA, 'ops', { url: whole('SECOND') });
    expect((await audited()).slice(1)).toEqual([['update', { url: SHOWN }, { url: SHOWN }]]);
    expect(await sentTo()).toEqual([whole('SECOND')]);
    for (const url of ['https://other.test/***', 'https://me:***@hooks.test:8443/x'])
      await expect(patchWebhook(deps, ADA, 'ops', { url })).rejects.toMatchObject({ code: 'webhook_address_masked' });
    await expect(createWebhook(deps, ADA, { ...wanted(''), name: 'copy', url: SHOWN })).rejects.toMatchObject({
      code: 'webhook_address_masked',
    });
    expect(await sentTo()).toEqual([whole('SECOND')]);
    expect(await dump()).not.toMatch(/FIRST|SECOND/);
  });

  test('is in no failure that is recorded', async () => {
    await createWebhook(depsOf(), ADA, wanted('CANARY'));
    const fail = (url: string) => new Error(`connect to ${url} (${new URL(url).pathname}) failed for key CANARY`);
    expect(await sentTo(depsOf(), fail)).toHaveLength(1);
    const { last_error: error } = await database.db
      .selectFrom('notifications')
      .select('last_error')
      .executeTakeFirstOrThrow();
    expect(error).toContain(`connect to ${SHOWN}`);
    expect(error).not.toContain('CANARY');
  });

  test('that no key opens says what to do, and can be set again', async () => {
    await createWebhook(depsOf(), ADA, wanted('LOST'));
    await rm(keyFile);
    const deps = depsOf();
    await deps.secrets.putAll('muster-webhook-ops', { key: 'another-signing-key' });
    expect(await sentTo(deps)).toEqual([]);
    const { last_error: error } = await database.db
      .selectFrom('notifications')
      .select('last_error')
      .executeTakeFirstOrThrow();
    expect(error).toMatch(/cannot be read .*set it again/);
    await patchWebhook(deps, ADA, 'ops', { url: whole('FOUND') });
    expect(await sentTo(deps)).toContain(whole('FOUND'));
  });
});

describe('an address that an older release has written', () => {
  test('works, is shown masked, and is sealed by the second look, without a record of a change', async () => {
    await createSecretStore(database.db, cipher(), () => new Date()).putAll('muster-webhook-ops', {
      key: 'some-signing-key-here',
    });
    await older('CANARY');
    expect(await sentTo()).toEqual([whole('CANARY')]);
    expect(await sealOpenAddresses(depsOf())).toBe(0);
    await passed();
    expect(await sealOpenAddresses(depsOf())).toBe(1);
    expect(await sealOpenAddresses(depsOf())).toBe(0);
    expect((await row()).url).toBe(SHOWN);
    expect(await sentTo()).toEqual([whole('CANARY')]);
    expect(await audited()).toEqual([['create', null, expect.objectContaining({ url: SHOWN })]]);
    expect(await dump()).not.toContain('CANARY');
  });

  test('of a changed webhook is the one that counts, and takes the place of the sealed one', async () => {
    await createWebhook(depsOf(), ADA, wanted('SEALED'));
    await older('NEWER');
    expect(await sentTo()).toEqual([whole('NEWER')]);
    expect((await audited()).at(-1)).toEqual(['update', { url: SHOWN }, { url: SHOWN }]);
    await sealOpenAddresses(depsOf());
    await passed();
    expect(await sealOpenAddresses(depsOf())).toBe(1);
    expect(await sentTo()).toEqual([whole('NEWER')]);
    expect(await dump()).not.toMatch(/SEALED|NEWER/);
  });

  test.each([
    'muster-api',
    'muster-worker',
    'muster-worker-watch',
    'muster-api (signs)',
    'muster-worker (signs)-watch',
  ])('stays as it is while %s is there', async (name) => {
    await older('CANARY');
    await sealOpenAddresses(depsOf());
    await passed();
    const other = openDatabase({ url: database.url, name });
    others.push(other);
    await sql`select 1`.execute(other);
    expect(await sealOpenAddresses(depsOf())).toBe(0);
    await passed();
    expect(await sealOpenAddresses(depsOf())).toBe(0);
    expect((await row()).url).toBe(whole('CANARY'));
  });

  test('is sealed beside processes of this release', async () => {
    for (const signs of [true, false]) {
      const other = openDatabase({ url: database.url, name: connectionName('muster-worker', { signs }) });
      others.push(other);
      await sql`select 1`.execute(other);
    }
    await older('CANARY');
    await sealOpenAddresses(depsOf());
    await passed();
    expect(await sealOpenAddresses(depsOf())).toBe(1);
  });

  test.each([
    ['https://me:CANARY@Hooks.test/CANARY', 'https://Hooks.test/***'],
    ['HTTP://hooks.test:80?CANARY', 'http://hooks.test:80/***'],
    ['http://hooks.test#CANARY', 'http://hooks.test/***'],
    ['https:\\\\hooks.test\\CANARY', '***'],
    [' https://hooks.test/CANARY', '***'],
    ['http://me:CAN@ARY@[::1]:80/CANARY', 'http://[::1]:80/***'],
  ])('%j is recorded as %s when it is written and removed', async (url, shown) => {
    await sql`insert into webhooks (name, url, events, enabled, allow_private_redirects, created_at, updated_at)
      values ('odd', ${url}, '{session.ended}', true, false, now(), now())`.execute(database.db);
    await sql`delete from webhooks where name = 'odd'`.execute(database.db);
    expect((await audited()).map(([action, before, after]) => [action, (before ?? after)?.url])).toEqual([
      ['create', shown],
      ['delete', shown],
    ]);
  });
});

describe('a change of the key', () => {
  test('seals addresses again, leaves none of the old key, and is no record of a change', async () => {
    await createWebhook(depsOf(), ADA, wanted('CANARY'));
    const [former, before] = [readFileSync(keyFile), await row()];
    expect(await changeSecretKey(database.db, cipher())).toBe(2);
    expect((await row()).sealed_url?.subarray(0, 4)).not.toEqual(before.sealed_url?.subarray(0, 4));
    expect(readFileSync(keyFile)).not.toEqual(former);
    expect(await sentTo()).toEqual([whole('CANARY')]);
    expect(await audited()).toHaveLength(1);
  });

  test('loses no address that is written meanwhile', async () => {
    const deps = depsOf();
    await createWebhook(deps, ADA, wanted('n0'));
    let done = false;
    const writing = (async () => {
      let count = 0;
      for (; !done; )
        await patchWebhook(deps, ADA, 'ops', { url: whole(`n${++count}`), secret: `a-signing-key-${count}-xx` });
      return count;
    })();
    for (let round = 0; round < 4; round += 1) await changeSecretKey(database.db, cipher());
    done = true;
    // The last write may still be under way.
    const last = await writing;
    expect(await sentTo()).toEqual([whole(`n${last}`)]);
  });

  test('whose key is missing beside nothing but addresses is noticed', async () => {
    await createWebhook(depsOf(), ADA, wanted('CANARY'));
    await sql`delete from secrets`.execute(database.db);
    await rm(keyFile);
    await expect(
      ensureSecretKey(database.db, openSecretCipher(keyFile, { make: false }), keyFile),
    ).rejects.toMatchObject({ code: 'secret_unreadable' });
  });
});

test('where secrets are in a cluster, a key of its own seals, made once by whoever needs it first', async () => {
  const { db } = database;
  const secrets = createMemorySecretStore();
  const seals = Array.from({ length: 4 }, () => openAddressSeal(db, secrets, null));
  const sealed = await Promise.all(seals.map((seal, index) => seal.seal(`text ${index}`, 'place')));
  expect(await Promise.all(sealed.map((bytes) => seals[0]?.open(bytes, 'place')))).toEqual(
    sealed.map((_, index) => `text ${index}`),
  );
  const [first] = sealed;
  await expect(seals[0]?.open(first ?? Buffer.alloc(0), 'another')).rejects.toMatchObject({
    code: 'secret_unreadable',
  });
  expect(await secrets.get('muster-addresses')).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/) });
});
