import { setTimeout as delay } from 'node:timers/promises';
import { types } from 'node:util';
import { Kysely } from 'kysely';
import pg from 'pg';
import type { Database } from '../tables.ts';
import { AttributingDialect } from './attribution.ts';
import { type DatabaseWatch, watchDatabase } from './database-watch.ts';
import { beginConnection } from './vanished-clients.ts';

/** The database, or a transaction of it: what every function of the store takes first, and what those above hand on. */
export type Db = Kysely<Database>;

const INT8 = 20;

export interface DatabaseOptions {
  url: string;
  /** PEM of the CA that signed the server's certificate; without it TLS is as the URL says. */
  ca?: string | undefined;
  /** Connections at most; default 10. */
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  /** Longest time for one statement, ms; the server ends it then. Default: no limit. */
  statementMs?: number;
  /** So many times longer than usual a connection, and a server that says nothing, are waited for. Default: 1. */
  patience?: number;
}

/** Requests that wait for a connection at most; more are refused at once. */
const MAX_WAITING = 1_000;
/** Connections that do not end in this time, ms, are broken off: their server is frozen. */
const END_MS = 2_000;
/** A request that has no connection by then fails, ms. */
const CONNECT_MS = 4_000;
/** The server is to end a statement that lasts too long; if it cannot, we do after this, ms. */
const STATEMENT_GRACE = 5_000;

const watches = new WeakMap<Db, DatabaseWatch>();

/**
 * Opens a pool. A request that gets no connection within 4 s fails, and so does a query whose server has stopped to answer,
 * so that an API call answers 503 within 5 s when the database is away or frozen; broken connections are dropped quietly and
 * made again.
 */
export function openDatabase(options: DatabaseOptions): Db {
  const { url, ca, poolSize = 10, name = 'muster', statementMs, patience = 1 } = options;
  const parsers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  };
  const server = { connectionString: url, ...(ca ? { ssl: { ca } } : {}) };
  const watch = watchDatabase(
    { ...server, application_name: `${name}-watch` },
    statementMs === undefined ? undefined : statementMs + STATEMENT_GRACE,
    patience,
  );
  const pool = new pg.Pool({
    ...server,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_MS * patience,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: name,
    types: parsers as pg.CustomTypesConfig,
    Client: watch.Client,
    onConnect: (client) => client.query(beginConnection({ statementMs })),
  });
  pool.on('error', () => undefined);
  // The pool listens only while a connection is idle. One that breaks in use fails its query, and that is enough: an
  // error event that nobody hears would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<Database>({
    dialect: new AttributingDialect({
      pool: {
        connect: () => (pool.waitingCount < MAX_WAITING ? pool.connect() : Promise.reject(tooManyWait())),
        end: async () => {
          await Promise.race([pool.end(), delay(END_MS, undefined, { ref: false })]);
          await watch.close();
        },
      },
    }),
  });
  watches.set(db, watch);
  return db;
}

/** Resolves when the database answers; a pool with much to do does not delay it. */
export function pingDatabase(db: Db): Promise<void> {
  return watches.get(db)?.ping() ?? Promise.reject(new Error('this database was not opened here'));
}

/** With Postgres's own code for too many connections. */
function tooManyWait(): Error {
  return Object.assign(new Error('Too many wait for a connection to the database'), { code: '53300' });
}
const CONNECTION_CODES = /^(08|53|57P)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;

/** Whether the error says that a table is not there, as before the migrations of a first start. */
export function isUndefinedTable(error: unknown): boolean {
  return types.isNativeError(error) && (error as { code?: unknown }).code === '42P01';
}

/** Whether the error says that the database is away or too busy (503), not that a statement is wrong. */
export function isConnectionError(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && CONNECTION_CODES.test(code)) return true;
  return /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/.test(
    error.message,
  );
}
