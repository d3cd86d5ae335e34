import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { TEMPLATE } from './postgres-server.ts';

/** Without tests of a database that is away: a busy machine may take many seconds to make a connection. */
const BUSY = 30;

export interface TestDatabase {
  url: string;
  db: Db;
  close(): Promise<void>;
}

/** A fresh, migrated database of its own on the test run's Postgres (about 60 ms). Call `close` in afterAll. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await makeDatabase();
  const db = openDatabase({ url, name: 'test', patience: BUSY });
  return {
    url,
    db,
    close: async () => {
      await db.destroy();
      await drop();
    },
  };
}

/** The same for whoever opens it himself; `drop` ends what is still connected. */
export async function makeDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.MUSTER_TEST_POSTGRES_URL;
  if (server === undefined) throw new Error('no test Postgres: run through jest, whose global set-up starts it');
  const name = `t_${randomBytes(8).toString('hex')}`;
  // The other way writes the whole database to the log, which takes twice the work.
  await statement(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  return {
    url: server.replace(/\/postgres$/, `/${name}`),
    drop: () => statement(server, `drop database ${name} with (force)`),
  };
}

async function statement(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
