import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KyselyPlugin } from 'kysely';
import { createSource, type SourceDependencies } from '../../control/configurations/create-source.ts';
import { deleteSource } from '../../control/configurations/delete-source.ts';
import { patchSource } from '../../control/configurations/patch-source.ts';
import { settleBrokenOffChanges } from '../../control/configurations/source-secrets.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const credentials = { username: 'u', password: 'first-word' };
const LATER = new Date(Date.now() + 3_600_000);

let database: TestDatabase;
let dir: string;
let secrets: SecretStore;
let deps: SourceDependencies;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'muster-source-secrets-'));
  secrets = createSecretStore(database.db, openSecretCipher(join(dir, 'key')), () => new Date());
  deps = { db: database.db, secrets, clock: () => new Date(), log: { warn: () => undefined } };
});
afterAll(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const table of ['sources', 'secrets', 'secret_changes'] as const) await database.db.deleteFrom(table).execute();
});

const ADA = { actor: 'ada' };
const BOB = { actor: 'bob' };
const make = (on: SourceDependencies = deps, name = 'one', actor = 'ada') =>
  createSource(on, { actor }, { name, clone_url: 'u', credentials });
const secretNames = async () => (await secrets.list()).map((secret) => secret.name);
const named = async () =>
  (await database.db.selectFrom('sources').select('record').execute()).map((row) => row.record.credentials.secret_name);
const notes = async () => (await database.db.selectFrom('secret_changes').selectAll().execute()).length;

/** The same dependencies, of a process that dies at its step number `at`: before or after a statement or a secret's write. */
function dyingAt(at: number): { deps: SourceDependencies; died(): boolean } {
  let steps = 0;
  const step = () => {
    if (++steps >= at) throw new Error('the process is dead');
  };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      step();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const around = async <T>(work: () => Promise<T>): Promise<T> => {
    step();
    const answer = await work();
    step();
    return answer;
  };
  const dying: SecretStore = {
    get: (name) => around(() => secrets.get(name)),
    put: (...values) => around(() => secrets.put(...values)),
    putAll: (...values) => around(() => secrets.putAll(...values)),
    deleteKey: (...place) => around(() => secrets.deleteKey(...place)),
    delete: (name) => around(() => secrets.delete(name)),
    list: () => around(() => secrets.list()),
  };
  return { deps: { ...deps, db: database.db.withPlugin(plugin), secrets: dying }, died: () => steps >= at };
}

describe('a process that dies at any step leaves no secret for ever and no record without its secret', () => {
  const OPERATIONS: [string, (on: SourceDependencies) => Promise<unknown>][] = [
    ['create', (on) => make(on, 'new')],
    ['patch', (on) => patchSource(on, ADA, 'one', { credentials: { username: 'u', password: 'second-word' } })],
    ['delete', (on) => deleteSource(on, 'one')],
  ];
  test.each(OPERATIONS)('%s', async (_title, operation) => {
    let at = 1;
    for (let died = true; died; at++) {
      for (const table of ['sources', 'secrets', 'secret_changes'] as const) {
        await database.db.deleteFrom(table).execute();
      }
      await make();
      const process = dyingAt(at);
      await operation(process.deps).catch(() => undefined);
      died = process.died();
      expect(await secretNames()).toEqual(expect.arrayContaining(await named()));
      await settleBrokenOffChanges(deps, LATER);
      expect([at, await secretNames(), await notes()]).toEqual([at, (await named()).sort(), 0]);
    }
    expect(at).toBeGreaterThan(5);
  });
});

test('a change under way is not taken for broken off', async () => {
  await database.db.insertInto('secret_changes').values({ id: crypto.randomUUID(), secret_name: 'x' }).execute();
  await settleBrokenOffChanges(deps, new Date(Date.now() - 60_000));
  expect(await notes()).toBe(1);
});

test('a create so slow that it was taken for broken off fails, and leaves nothing', async () => {
  const slow: SecretStore = {
    ...secrets,
    putAll: async (...values) => {
      await secrets.putAll(...values);
      await settleBrokenOffChanges(deps, LATER);
    },
  };
  await expect(make({ ...deps, secrets: slow })).rejects.toMatchObject({ code: 'changed_meanwhile' });
  expect([await secretNames(), await named(), await notes()]).toEqual([[], [], 0]);
});

test('a store that is away just now does not stop a delete; the secret goes later', async () => {
  await make();
  const warnings: object[] = [];
  const log = { warn: (object: object) => void warnings.push(object) };
  const away = { ...secrets, delete: () => Promise.reject(new Error('away')) };
  await deleteSource({ ...deps, secrets: away, log }, 'one');
  expect([await named(), await notes(), warnings.length]).toEqual([[], 1, 1]);
  expect(await secretNames()).toHaveLength(1);
  await settleBrokenOffChanges({ ...deps, secrets: away, log }, LATER);
  expect(await notes()).toBe(1);
  await settleBrokenOffChanges(deps, LATER);
  expect([await secretNames(), await notes()]).toEqual([[], 0]);
});

test('secrets that nobody noted stay, though no source names them: they may have been brought back before it', async () => {
  await secrets.putAll('cfs-source-credentials-1', credentials);
  await make();
  await deleteSource(deps, 'one');
  await settleBrokenOffChanges(deps, LATER);
  expect(await secretNames()).toEqual(['cfs-source-credentials-1']);
});

test('a secret that another source names too outlives one of them', async () => {
  const { credentials: kept } = await make();
  const { record } = await database.db.selectFrom('sources').select('record').executeTakeFirstOrThrow();
  await database.db
    .insertInto('sources')
    .values({ name: 'two', record: JSON.stringify({ ...record, name: 'two' }), updated_at: new Date(), actor: null })
    .execute();
  await deleteSource(deps, 'one');
  expect(await secretNames()).toEqual([kept.secret_name]);
  await deleteSource(deps, 'two');
  expect(await secretNames()).toEqual([]);
});

test('credentials that cannot be read any more can be set again', async () => {
  const { credentials: made } = await make();
  const other = createSecretStore(database.db, openSecretCipher(join(dir, 'another key')), () => new Date());
  await expect(other.get(made.secret_name)).rejects.toMatchObject({ code: 'secret_unreadable' });
  const next = { username: 'n', password: 'new-word' };
  await patchSource({ ...deps, secrets: other }, ADA, 'one', { credentials: next });
  expect(await other.get(made.secret_name)).toEqual(next);
});

test('patches and deletes of many sources at once do not wait for each other', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => make(deps, name)));
  const patches = names.flatMap((name) =>
    ['a-word', 'b-word'].map((password) => patchSource(deps, ADA, name, { credentials: { username: 'u', password } })),
  );
  await Promise.all(patches);
  for (const name of await secretNames()) {
    expect(await secrets.get(name)).toEqual({ username: 'u', password: expect.stringMatching(/^[ab]-word$/) });
  }
  await Promise.all(names.map((name) => deleteSource(deps, name)));
  expect([await secretNames(), await named(), await notes()]).toEqual([[], [], 0]);
});

test('a patch against a delete: the secret is there exactly when the source is', async () => {
  for (let round = 0; round < 20; round++) {
    await make();
    const patching = patchSource(deps, ADA, 'one', { credentials: { username: 'u', password: `word-${round}` } });
    await Promise.allSettled([patching, deleteSource(deps, 'one')]);
    expect([await secretNames(), await notes()]).toEqual([await named(), 0]);
    await deleteSource(deps, 'one').catch(() => undefined);
  }
});

test('who wrote is stored with source and secret', async () => {
  await make(deps, 'one', 'eve');
  await patchSource(deps, BOB, 'one', { credentials });
  const { db } = database;
  expect(await db.selectFrom('sources').select('actor').execute()).toEqual([{ actor: 'bob' }]);
  expect(await db.selectFrom('secrets').select('actor').distinct().execute()).toEqual([{ actor: 'bob' }]);
});
