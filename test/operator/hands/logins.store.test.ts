/** Logins of operators, as the set-up of a release makes them. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { readOperatorLogin } from '../../../domain/operator/operator-login.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { makeOperatorLogins } from '../../../store/operator/logins.ts';
import { listOperators } from '../../../store/operator/reads.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { addOperator } from './fixtures.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const suffix = randomBytes(4).toString('hex');
const LOGINS = ['one', 'two'].map((operator) => ({ operator, login: `login_${operator}_${suffix}` }));
const [ONE, TWO] = LOGINS as [(typeof LOGINS)[0], (typeof LOGINS)[0]];

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
});
afterAll(async () => {
  for (const { login } of LOGINS) await sql.raw(`drop owned by ${login}; drop role ${login}`).execute(db);
  await database.close();
});

/** Does something with a login. Postgres asks for the password where it comes by its own kinds of connections. */
async function as<T>(login: string, password: string, work: (own: Db) => Promise<T>): Promise<T> {
  const address = new URL(database.url);
  address.username = login;
  address.password = encodeURIComponent(password);
  const own = openDatabase({ url: address.href, name: login, poolSize: 1 });
  try {
    return await work(own);
  } finally {
    await own.destroy();
  }
}
const kept = async (login: string) => {
  const { rows } = await sql<{
    rolpassword: string;
  }>`select rolpassword from pg_authid where rolname = ${login}`.execute(db);
  return rows[0]?.rolpassword;
};

test('each has its operator and sees no other; made again they are the same, with the password of then', async () => {
  const logins = LOGINS.map((login) => ({ ...login, password: `sécret ${login.operator}` }));
  await makeOperatorLogins(db, logins, NOW);
  for (const { operator, login, password } of logins) {
    await as(login, password, async (own) => {
      await addOperator(own, NOW, operator);
      expect((await listOperators(own, NOW)).map(({ name }) => name)).toEqual([operator]);
      await expect(own.selectFrom('sessions').selectAll().execute()).rejects.toThrow('permission denied');
    });
  }
  const before = await kept(ONE.login);
  expect(before).toMatch(/^SCRAM-SHA-256\$4096:/);
  await makeOperatorLogins(db, [{ ...ONE, password: 'other' }], NOW);
  expect(await kept(ONE.login)).not.toBe(before);
  await as(ONE.login, 'other', async (own) => expect(await listOperators(own, NOW)).toHaveLength(1));
  await expect(as(ONE.login, 'sécret one', (own) => listOperators(own, NOW))).rejects.toThrow(
    'password authentication',
  );
});

test('an operator of another login stays its own, and nothing is made', async () => {
  const taken = { operator: 'one', login: TWO.login, password: 'p' };
  const before = await kept(TWO.login);
  await expect(makeOperatorLogins(db, [taken], NOW)).rejects.toThrow(
    `the operator one belongs to the login ${ONE.login}`,
  );
  expect(await kept(TWO.login)).toBe(before);
});

test.each<[string, object | null]>([
  ['databases=operator_databases=/etc/p', { operator: 'databases', login: 'operator_databases', file: '/etc/p' }],
  ['a.b-c=x=/a=b', { operator: 'a.b-c', login: 'x', file: '/a=b' }],
  ['databases=operator_databases', null],
  ['Upper=x=/p', null],
  ['a=x"; drop=/p', null],
  ['', null],
])('%s', (words, read) => expect(readOperatorLogin(words)).toEqual(read));
