/** A machine that vanishes holds its locks no longer than half a minute: what the database asks of each connection. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase, pingDatabase } from '../../store/connection/database.ts';
import { openListener } from '../../store/connection/listener.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Clock ticks of the kernel's tables in a second. */
const TICKS = 100;
/** Timer of a socket that is to be asked whether it is there. */
const KEEPALIVE = '02';

/** In how many seconds the server's kernel asks the client of this name for a sign of life; null while something else is due. */
async function askedIn(name: string): Promise<number | null> {
  const { rows } = await sql<{ port: number }>`
    select client_port as port from pg_stat_activity where application_name = ${name}`.execute(database.db);
  const client = rows[0]?.port.toString(16).toUpperCase().padStart(4, '0');
  const server = Number(new URL(database.url).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const socket = lines.find(([, local, remote]) => local?.endsWith(`:${server}`) && remote?.endsWith(`:${client}`));
  const [timer, ticks] = socket?.[5]?.split(':') ?? [];
  return timer === KEEPALIVE && ticks !== undefined ? Number.parseInt(ticks, 16) / TICKS : null;
}

test('connections of the pool, of its watch and of listeners are asked for a sign of life after 10 s', async () => {
  const db = openDatabase({ url: database.url, poolSize: 1, name: 'vanishing' });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  const listener = openListener({
    url: database.url,
    name: 'vanishing-listener',
    channel: 'anything',
    onNotification: () => undefined,
    onConnected: resolve,
  });
  await Promise.all([sql`select 1`.execute(db), pingDatabase(db), listening]);
  for (const name of ['vanishing', 'vanishing-watch', 'vanishing-listener']) {
    const seconds = await eventually(`the kernel watches ${name}`, async () => (await askedIn(name)) ?? false);
    expect(seconds).toBeLessThanOrEqual(10);
  }
  await listener.close();
  await db.destroy();
});

test('what the settings are, also where statements have a limit', async () => {
  const db = openDatabase({ url: database.url, poolSize: 1, statementMs: 1_500 });
  const { rows } = await sql<{ name: string; value: string }>`
    select name, current_setting(name) as value from pg_settings where name like 'tcp\\_%'
      or name in ('idle_in_transaction_session_timeout', 'statement_timeout') order by name`.execute(db);
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
    idle_in_transaction_session_timeout: '5min',
    statement_timeout: '1500ms',
    tcp_keepalives_count: '3',
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_user_timeout: '30000',
  });
  await db.destroy();
});
