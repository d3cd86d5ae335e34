/**
 * Rehearsals: requests that really write, inside a transaction that is taken back. All queries of a handle go to the one connection of the
 * rehearsal in whose context they are made; their transactions are savepoints of it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryResult,
} from 'kysely';
import type { Database } from '../tables.ts';
import { AttributingCompiler } from './attribution.ts';
import type { Db } from './database.ts';

export interface RehearsalTimes {
  /** How long a statement may wait for a lock, ms. */
  lockMs: number;
  /** How long a statement may last, ms. */
  statementMs: number;
}

/** What a rehearsal may ask for beside its queries. */
export interface RehearsalControl {
  /** Takes back what was written so far; queries then see the database as it is. */
  takeBack(): Promise<void>;
  /** Whether a statement waited or lasted too long. */
  isBusy(): boolean;
}

interface Rehearsal {
  run<R>(query: CompiledQuery): Promise<QueryResult<R>>;
  /** Savepoints that are open now. */
  open: number;
  /** Savepoints that were ever made: each has a name of its own. */
  made: number;
  /** Settles when all that was sent so far is done. */
  last: Promise<unknown>;
  hasEnded: boolean;
  isBusy: boolean;
}

const current = new AsyncLocalStorage<Rehearsal>();

/** Postgres's codes for a lock that was not to be had, and for a statement that lasted too long. */
const BUSY = new Set(['55P03', '57014']);
/** A rehearsal that does nothing for so long, ms, is ended by the server: it may hold locks. */
const IDLE_MS = 20_000;

/** Runs `work` in a transaction of its own and takes it back, whatever comes of it. Throws what `work` throws. */
export function rehearse<T>(
  db: Db,
  { lockMs, statementMs }: RehearsalTimes,
  work: (control: RehearsalControl) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (connection) => {
    const say = (text: string) => connection.executeQuery(CompiledQuery.raw(text));
    const rehearsal: Rehearsal = {
      run: <R>(query: CompiledQuery) => connection.executeQuery(query as CompiledQuery<R>),
      ...{ open: 0, made: 0, last: Promise.resolve(), hasEnded: false, isBusy: false },
    };
    await say('begin');
    try {
      await say(`set local lock_timeout = ${lockMs}`);
      await say(`set local statement_timeout = ${statementMs}`);
      await say(`set local idle_in_transaction_session_timeout = ${IDLE_MS}`);
      await say('savepoint rehearsed');
      const takeBack = async () => {
        await inTurn(rehearsal, () => say('rollback to savepoint rehearsed'));
        rehearsal.open = 0;
      };
      return await current.run(rehearsal, () => work({ takeBack, isBusy: () => rehearsal.isBusy }));
    } finally {
      rehearsal.hasEnded = true;
      await rehearsal.last;
      await say('rollback');
    }
  });
}

/**
 * Opens the handle of rehearsals over a database. Outside of a rehearsal it only takes single statements, which go to the database itself: what
 * works by itself, as a timer does, belongs to no rehearsal.
 */
export function openRehearsalHandle(db: Db): Db {
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new RehearsalDriver(db),
      createIntrospector: (handle) => new PostgresIntrospector(handle),
      createQueryCompiler: () => new AttributingCompiler(),
    },
  });
}

class RehearsalDriver implements Driver {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async init(): Promise<void> {}
  async destroy(): Promise<void> {}
  async releaseConnection(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const rehearsal = current.getStore();
    return rehearsal === undefined ? outside(this.#db) : new RehearsedConnection(rehearsal);
  }

  beginTransaction(connection: DatabaseConnection): Promise<void> {
    return rehearsed(connection).begin();
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return rehearsed(connection).end(false);
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return rehearsed(connection).end(true);
  }
}

function outside(db: Db): DatabaseConnection {
  return {
    executeQuery: <R>(query: CompiledQuery) => db.executeQuery(query as CompiledQuery<R>),
    streamQuery: async function* (query) {
      yield await db.executeQuery(query);
    } as DatabaseConnection['streamQuery'],
  };
}

function rehearsed(connection: DatabaseConnection): RehearsedConnection {
  if (connection instanceof RehearsedConnection) return connection;
  throw new Error('a transaction of the handle of rehearsals is begun outside of a rehearsal');
}

class RehearsedConnection implements DatabaseConnection {
  readonly #rehearsal: Rehearsal;
  #savepoint = '';

  constructor(rehearsal: Rehearsal) {
    this.#rehearsal = rehearsal;
  }

  /** A statement that fails by itself leaves the transaction as it was, as a statement without a transaction does. */
  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const rehearsal = this.#rehearsal;
    return inTurn(rehearsal, async () => {
      if (rehearsal.open > 0) return send<R>(rehearsal, query);
      await send(rehearsal, CompiledQuery.raw('savepoint single'));
      try {
        const result = await send<R>(rehearsal, query);
        await send(rehearsal, CompiledQuery.raw('release savepoint single'));
        return result;
      } catch (error) {
        await send(rehearsal, CompiledQuery.raw('rollback to savepoint single'));
        throw error;
      }
    });
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async begin(): Promise<void> {
    const rehearsal = this.#rehearsal;
    rehearsal.made += 1;
    this.#savepoint = `part${rehearsal.made}`;
    await inTurn(rehearsal, () => send(rehearsal, CompiledQuery.raw(`savepoint ${this.#savepoint}`)));
    rehearsal.open += 1;
  }

  async end(isUndone: boolean): Promise<void> {
    const rehearsal = this.#rehearsal;
    const words = isUndone ? 'rollback to savepoint' : 'release savepoint';
    try {
      await inTurn(rehearsal, () => send(rehearsal, CompiledQuery.raw(`${words} ${this.#savepoint}`)));
    } finally {
      rehearsal.open = Math.max(0, rehearsal.open - 1);
    }
  }
}

async function send<R>(rehearsal: Rehearsal, query: CompiledQuery): Promise<QueryResult<R>> {
  try {
    return await rehearsal.run<R>(query);
  } catch (error) {
    if (BUSY.has(String((error as { code?: unknown }).code))) rehearsal.isBusy = true;
    throw error;
  }
}

/** What is done to the connection goes one after the other: savepoints of two at once would be each other's. */
function inTurn<T>(rehearsal: Rehearsal, work: () => Promise<T>): Promise<T> {
  if (rehearsal.hasEnded) return Promise.reject(new Error('the rehearsal has ended'));
  const turn = rehearsal.last.then(work);
  rehearsal.last = turn.catch(() => undefined);
  return turn;
}
