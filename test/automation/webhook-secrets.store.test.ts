/** The secrets of webhooks, whose store needs connections of the same database as the records. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  createWebhook,
  patchWebhook,
  removeWebhook,
  type WebhookDependencies,
} from '../../control/automation/write-webhook.ts';
import { openDatabase } from '../../store/database.ts';
import { createSecretStore } from '../../store/secrets.ts';
import { insertWebhook } from '../../store/webhooks.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let few: ReturnType<typeof openDatabase>;
let deps: WebhookDependencies;
const cipher = { encrypt: (text: string) => Buffer.from(text), decrypt: (bytes: Buffer) => bytes.toString() };
const stored = async (name: string) => (await createSecretStore(few, cipher).get(`muster-webhook-${name}`))?.key;
const wanted = (name: string) => ({ name, url: 'https://hooks.test/', events: ['session.ended' as const] });

beforeAll(async () => {
  database = await createTestDatabase();
  few = openDatabase({ url: database.url, poolSize: 3 });
  deps = { db: few, secrets: createSecretStore(few, cipher), clock: () => new Date(), actor: null };
});
afterAll(async () => {
  await few?.destroy();
  await database?.close();
});

test('many made, changed and removed at once leave connections to each other', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
  const made = await Promise.all(names.map((name) => createWebhook(deps, wanted(name))));
  expect(await Promise.all(names.map(stored))).toEqual(made.map(({ secret }) => secret));
  await Promise.all(names.map((name) => patchWebhook(deps, name, { secret: `${name}-another-signing-key` })));
  expect(await Promise.all(names.map(stored))).toEqual(names.map((name) => `${name}-another-signing-key`));
  await Promise.all(names.map((name) => removeWebhook(deps, name)));
  expect(await deps.db.selectFrom('webhooks').select('name').execute()).toEqual([]);
  expect(await createSecretStore(few, cipher).list()).toEqual([]);
});

test('one that is made again while its predecessor is removed keeps its secret, whichever process does either', async () => {
  await createWebhook(deps, wanted('again'));
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
  const made = createWebhook(deps, wanted('again'));
  // As another process would, which knows nothing of this one's turns.
  const members = { url: '', events: [], enabled: false, allow_private_redirects: false, actor: null };
  const blocked = await few
    .transaction()
    .execute(async (trx) => {
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      await insertWebhook(trx, { name: 'again', ...members, created_at: new Date(), updated_at: new Date() });
    })
    .catch((error: Error) => error.message);
  goOn.resolve();
  await removed;
  expect([blocked, (await made).secret]).toEqual(['canceling statement due to lock timeout', await stored('again')]);
});

test('one whose secret cannot be removed is still there', async () => {
  await createWebhook(deps, wanted('kept'));
  const away = { ...deps.secrets, delete: () => Promise.reject(new Error('the store is away')) };
  await expect(removeWebhook({ ...deps, secrets: away }, 'kept')).rejects.toThrow('away');
  await removeWebhook(deps, 'kept');
  expect(await stored('kept')).toBeUndefined();
});
