import { types } from 'node:util';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Database } from './tables.ts';

/** A connection or a transaction: what every repository function takes first. */
export type Db = Kysely<Database> | Transaction<Database>;

const INT8 = 20;

export interface DatabaseOptions {
  url: string;
  /** PEM of the CA that signed the server's certificate; without it TLS is as the URL says. */
  ca?: string | undefined;
  /** Connections at most; default 10. */
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
}

/**
 * Opens a pool. A request that gets no connection within 4 s fails, so that an API call answers 503 within 5 s when the
 * database is away; broken idle connections are dropped quietly and made again.
 */
export function openDatabase({ url, ca, poolSize = 10, name = 'muster' }: DatabaseOptions): Kysely<Database> {
  const parsers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 4_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: name,
    types: parsers as pg.CustomTypesConfig,
    ...(ca ? { ssl: { ca } } : {}),
  });
  pool.on('error', () => undefined);
  // The pool listens only while a connection is idle. One that breaks in use fails its query, and that is enough: an
  // error event that nobody hears would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}

const CONNECTION_CODES = /^(08|53|57P)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;

/** Whether the error says that the database is away or too busy (503), not that a statement is wrong. */
export function isConnectionError(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && CONNECTION_CODES.test(code)) return true;
  return /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/.test(
    error.message,
  );
}
