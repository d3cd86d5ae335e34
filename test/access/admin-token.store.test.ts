import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { authenticate } from '../../control/access/authenticate.ts';
import { ensureAdminToken } from '../../control/access/ensure-admin-token.ts';
import { revokeToken } from '../../control/access/revoke-token.ts';
import { newToken } from '../../control/access/token-secret.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
let dir: string;
let file: string;
const told: string[] = [];
const clock = () => new Date('2026-11-21T10:00:00Z');
const log = { info: (_: object, line: string) => told.push(line), warn: (_: object, line: string) => told.push(line) };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-admin-'));
  file = join(dir, 'admin-token');
  told.length = 0;
});
afterEach(async () => {
  await database.db.deleteFrom('tokens').execute();
  await rm(dir, { recursive: true, force: true });
});

const ensure = () => ensureAdminToken({ db: database.db, clock, file, log });
const inFile = async () => (await readFile(file, 'utf8')).trim();
const caller = (token: string) => authenticate({ db: database.db, issuer: undefined, clock }, token);
const rows = () => database.db.selectFrom('tokens').select('name').orderBy('name').execute();

test('the first start makes a token for the owner of the file alone; later ones change nothing', async () => {
  await ensure();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const token = await inFile();
  expect(await caller(token)).toEqual({
    actor: 'token/stack',
    role: 'admin',
    component: null,
    expiresAt: null,
  });
  await ensure();
  expect([await inFile(), await rows()]).toEqual([token, [{ name: 'stack' }]]);
  expect(told.join()).not.toContain(token);
});

test('two processes that start at once make one token', async () => {
  await Promise.all([ensure(), ensure(), ensure()]);
  expect(await rows()).toEqual([{ name: 'stack' }]);
  expect((await caller(await inFile())).role).toBe('admin');
});

test('a file that is there already is taken, as after the loss of the database', async () => {
  const token = newToken('api');
  await writeFile(file, token);
  await ensure();
  expect((await caller(token)).role).toBe('admin');
});

test('a token that was revoked stays so; a file that was removed means a new one', async () => {
  await ensure();
  const old = await inFile();
  await revokeToken({ db: database.db, clock }, 'stack');
  await ensure();
  await expect(caller(old)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(told.at(-1)).toContain('was revoked');
  await rm(file);
  await ensure();
  expect((await caller(await inFile())).actor).toBe('token/stack');
  await expect(caller(old)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a name that is taken is no obstacle', async () => {
  await ensure();
  await rm(file);
  await ensure();
  expect((await rows()).map(({ name }) => name)).toEqual(['stack', expect.stringMatching(/^stack-[0-9a-f]{8}$/)]);
});

test.each(['', 'hello', newToken('run')])('a file with %j makes nobody an administrator', async (content) => {
  await writeFile(file, content);
  await ensure();
  expect(await rows()).toEqual([]);
  expect(told).toEqual([expect.stringContaining('holds no token')]);
});

test('a table of tokens knows each token once, and a node by its component alone', async () => {
  await ensure();
  const { db } = database;
  const row = { id: crypto.randomUUID(), hash: Buffer.alloc(32), name: 'n', created_at: clock(), actor: null };
  await expect(
    db
      .insertInto('tokens')
      .values({ ...row, role: 'node', component: null })
      .execute(),
  ).rejects.toThrow();
  await expect(
    db
      .insertInto('tokens')
      .values({ ...row, role: 'admin', component: 'x' })
      .execute(),
  ).rejects.toThrow();
});
