/** The secrets of webhooks, whose store needs connections of the same database as the records. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import {
  createWebhook,
  patchWebhook,
  removeWebhook,
  testWebhook,
  type WebhookDependencies,
} from '../../control/webhooks/write-webhook.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listNotifications,
  lockWebhookName,
  noteDelivery,
} from '../../store/webhooks/webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
let few: ReturnType<typeof openDatabase>;
let deps: WebhookDependencies;
const cipher = { encrypt: (text: string) => Buffer.from(text), decrypt: (bytes: Buffer) => bytes.toString() };
const stored = async (name: string) =>
  (await createSecretStore(few, cipher, () => new Date()).get(`muster-webhook-${name}`))?.key;
const NOBODY = { actor: null };
const wanted = (name: string) => ({ name, url: 'https://hooks.test/', events: ['session.ended' as const] });

beforeAll(async () => {
  database = await createTestDatabase();
  few = openDatabase({ url: database.url, poolSize: 3, patience: 15 });
  const secrets = createSecretStore(few, cipher, () => new Date());
  deps = { db: few, secrets, addressSeal: openAddressSeal(few, secrets, cipher), clock: () => new Date() };
});
afterAll(async () => {
  await few?.destroy();
  await database?.close();
});

test('many made, changed and removed at once leave connections to each other', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
  const made = await Promise.all(names.map((name) => createWebhook(deps, NOBODY, wanted(name))));
  expect(await Promise.all(names.map(stored))).toEqual(made.map(({ secret }) => secret));
  await Promise.all(names.map((name) => patchWebhook(deps, NOBODY, name, { secret: `${name}-another-signing-key` })));
  expect(await Promise.all(names.map(stored))).toEqual(names.map((name) => `${name}-another-signing-key`));
  await Promise.all(names.map((name) => removeWebhook(deps, name)));
  expect(await deps.db.selectFrom('webhooks').select('name').execute()).toEqual([]);
  expect(await createSecretStore(few, cipher, () => new Date()).list()).toEqual([]);
});

test('one that is made again while its predecessor is removed keeps its secret, whichever process does either', async () => {
  await createWebhook(deps, NOBODY, wanted('again'));
  const [removing, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = {
    ...deps.secrets,
    delete: async (name: string) => {
      removing.resolve();
      await goOn.promise;
      await deps.secrets.delete(name);
    },
  };
  const removed = removeWebhook({ ...deps, secrets: slow }, 'again');
  await removing.promise;
  const made = createWebhook(deps, NOBODY, wanted('again'));
  // As another process would, which knows nothing of this one's turns.
  const members = { url: '', events: [], enabled: false, allow_private_redirects: false, actor: null };
  const blocked = await few
    .transaction()
    .execute(async (trx) => {
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      await lockWebhookName(trx, 'again');
      await insertWebhook(trx, { name: 'again', ...members, created_at: new Date(), updated_at: new Date() });
    })
    .catch((error: Error) => error.message);
  goOn.resolve();
  await removed;
  expect([blocked, (await made).secret]).toEqual(['canceling statement due to lock timeout', await stored('again')]);
});

test('one whose secret cannot be removed is still there', async () => {
  await createWebhook(deps, NOBODY, wanted('kept'));
  const away = { ...deps.secrets, delete: () => Promise.reject(new Error('the store is away')) };
  await expect(removeWebhook({ ...deps, secrets: away }, 'kept')).rejects.toThrow('away');
  await removeWebhook(deps, 'kept');
  expect(await stored('kept')).toBeUndefined();
});

test('what ends meanwhile does not wait for the store of secrets', async () => {
  await createWebhook(deps, NOBODY, wanted('held'));
  const [removing, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hangs = {
    ...deps.secrets,
    delete: () => {
      removing.resolve();
      return goOn.promise;
    },
  };
  const removed = removeWebhook({ ...deps, secrets: hangs }, 'held');
  await removing.promise;
  const told = await few.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '200ms'`.execute(trx);
    await sql`select notify_webhooks('session.ended', '{}')`.execute(trx);
    return listNotifications(trx, 'held', { state: undefined, afterId: '', limit: 10 });
  });
  goOn.resolve();
  await removed;
  expect([told.length, await findWebhook(few, 'held')]).toEqual([1, null]);
});

test('one that is tested while it is removed is not found', async () => {
  await createWebhook(deps, NOBODY, wanted('gone'));
  const tested = await few.transaction().execute(async (trx) => {
    await deleteWebhook(trx, 'gone');
    const outcome = testWebhook(deps, NOBODY, 'gone').catch((error: Error) => error);
    const isBlocked = async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
      return rows.length === 1;
    };
    await eventually('the test waits for the removal', isBlocked);
    return { outcome };
  });
  expect(await tested.outcome).toMatchObject({ code: 'webhook_not_found' });
});

test('a late try does not send again what another has delivered', async () => {
  await createWebhook(deps, NOBODY, wanted('late'));
  const { id } = await testWebhook(deps, NOBODY, 'late');
  const now = new Date();
  await noteDelivery(few, id, { state: 'delivered', now, status: 200, error: null });
  await noteDelivery(few, id, { state: 'waiting', now, nextTryAt: now, status: null, error: 'timed out' });
  const [kept] = await listNotifications(few, 'late', { state: undefined, afterId: '', limit: 10 });
  expect(kept).toMatchObject({ state: 'delivered', attempts: 1, last_status: 200, last_error: null });
});
