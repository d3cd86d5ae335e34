/** Notices a database that has stopped to answer without closing its connections: a frozen server, a dead network. */
import { Duplex } from 'node:stream';
import pg from 'pg';
import { beginConnection } from './vanished-clients.ts';

/** Time between two looks, ms. */
const TICK_MS = 500;
/** A query this old, in ticks, makes the watch ask the server whether it is there: 1 s. */
const ASK_AFTER = 2;
/**
 * Ticks that the server has to answer: 2.5 s. Counted in ticks, not in time, so that an event loop which was busy itself for
 * long is not taken for a silent server: between two ticks everything that has arrived is read.
 */
const PATIENCE = 5;
/**
 * A query this old whose server process says that it has no work never arrived there: 4 s. On a starved machine a process may
 * get no turn for seconds although its query is there.
 */
const LOST_AFTER = 8;

interface Watched {
  client: pg.Client;
  /** Ticks that what it waits for (an answer or the connection itself) has lasted; null: it waits for nothing. */
  waited: number | null;
}

interface Question {
  client: pg.Client;
  waited: number;
}

export interface DatabaseWatch {
  /** Clients of this class are watched: a pool makes its connections of it. */
  readonly Client: typeof pg.Client;
  /** Resolves when the server answers, on a connection of its own: a pool with much to do does not delay it. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Watches the connections of one pool. As long as the server answers on a connection of the watch's own, a query may take
 * as long as it needs. A server that does not answer for 2.5 s counts as away: every connection is destroyed, so that all
 * that waits fails at once (after 3.5 to 4.5 s in all), and new ones are refused until the server answers again. A single
 * connection is destroyed when its server process has not heard of the query, or a statement lasts longer than
 * `statementMs` (default: no limit). With `patience` all of it takes so many times longer.
 */
export function watchDatabase(config: pg.ClientConfig, statementMs?: number, patience = 1): DatabaseWatch {
  const watched = new Set<Watched>();
  let question: Question | null = null;
  let answer: Promise<void> = Promise.resolve();
  /** The connection for questions while none is asked. */
  let idle: pg.Client | null = null;
  let away = false;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  class WatchedClient extends pg.Client {
    readonly #entry: Watched;

    constructor(options?: string | pg.ClientConfig) {
      super(options);
      this.#entry = { client: this, waited: null };
      this.on('end', () => watched.delete(this.#entry));
      this.connect = this.#watchedConnect(this.connect.bind(this)) as typeof this.connect;
      this.query = this.#watchedQuery(this.query.bind(this)) as typeof this.query;
    }

    #watchedConnect(connect: (done: (error: Error | null) => void) => void) {
      return (done: (error: Error | null) => void) => {
        if (away) return void setImmediate(done, silentServer());
        watched.add(this.#entry);
        this.#begin();
        connect((error) => {
          this.#entry.waited = null;
          if (error) watched.delete(this.#entry);
          done(error);
        });
      };
    }

    /** The promise form alone is watched: the pool's users use no other. */
    #watchedQuery(query: (...words: unknown[]) => Promise<unknown> | undefined) {
      return async (...words: unknown[]) => {
        this.#begin();
        try {
          return await query(...words);
        } finally {
          this.#entry.waited = null;
        }
      };
    }

    #begin(): void {
      this.#entry.waited = 0;
      look();
    }
  }

  function look(): void {
    timer ??= setInterval(tick, TICK_MS).unref();
  }

  function tick(): void {
    const waiting = [...watched].filter(({ waited }) => waited !== null);
    for (const entry of waiting) entry.waited = (entry.waited ?? 0) + 1;
    for (const { client, waited } of waiting) {
      if (statementMs !== undefined && (waited ?? 0) * TICK_MS > statementMs) cut(client);
    }
    if (question !== null) {
      question.waited += 1;
      if (question.waited >= PATIENCE * patience) giveUp(question);
    } else if (away || waiting.some(({ waited }) => (waited ?? 0) >= ASK_AFTER)) {
      ask().catch(() => undefined);
    } else if (waiting.length === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  }

  /** Asks for a sign of life, once at a time; rejects when there is none. */
  function ask(): Promise<void> {
    if (question === null) {
      const asked = { client: idle ?? new pg.Client({ ...config, keepAlive: true }), waited: 0 };
      const isNew = idle === null;
      idle = null;
      question = asked;
      answer = hear(asked, isNew);
    }
    look();
    return answer;
  }

  /** The answer says too which server processes have no work though we wait for them: what we sent is lost. */
  async function hear(asked: Question, isNew: boolean): Promise<void> {
    const { client } = asked;
    const old = [...watched].filter(({ waited }) => (waited ?? 0) >= LOST_AFTER * patience);
    try {
      if (isNew) {
        client.on('error', () => {
          if (idle === client) idle = null;
        });
        await client.connect();
        await client.query(beginConnection());
      }
      const { rows } = await client.query<{ pid: number }>(IDLE_PROCESSES, [
        old.map((entry) => processOf(entry.client)),
      ]);
      away = false;
      const lost = new Set(rows.map(({ pid }) => pid));
      for (const entry of old) {
        if ((entry.waited ?? 0) >= LOST_AFTER * patience && lost.has(processOf(entry.client))) cut(entry.client);
      }
      if (closed) await client.end();
      else idle = client;
    } catch (error) {
      cut(client);
      // A server that refuses is there: it has too many clients, or is about to start or to stop.
      if (question === asked && !(error instanceof pg.DatabaseError)) giveUp(asked);
      throw error;
    } finally {
      if (question === asked) question = null;
    }
  }

  function giveUp(asked: Question): void {
    question = null;
    away = !closed;
    cut(asked.client);
    for (const { client } of watched) cut(client);
    look();
  }

  return {
    Client: WatchedClient,
    ping: ask,
    close: async () => {
      closed = true;
      if (timer !== null) clearInterval(timer);
      if (question !== null) cut(question.client);
      for (const { client } of watched) cut(client);
      await idle?.end().catch(() => undefined);
    },
  };
}

/** Processes of a list that wait for a statement, and not only since a moment ago. */
const IDLE_PROCESSES = `select pid from pg_stat_activity
  where pid = any($1) and state like 'idle%' and state_change < now() - interval '1 second'`;

/** Number of the server process behind a connection; the type declarations leave it out. */
function processOf(client: pg.Client): number {
  const id: unknown = Reflect.get(client, 'processID');
  return typeof id === 'number' ? id : 0;
}

/** Breaks the connection off at once: whoever waits for an answer on it gets the error of a lost connection. */
function cut(client: pg.Client): void {
  const stream: unknown = Reflect.get(client.connection, 'stream');
  if (stream instanceof Duplex) stream.destroy();
}

/** What a connection attempt fails with while the server is silent; counts as a connection error. */
function silentServer(): Error {
  return Object.assign(new Error('The database does not answer'), { code: 'ETIMEDOUT' });
}
