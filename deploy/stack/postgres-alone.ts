/** The embedded Postgres of a data directory without the rest of a stack: to save it while the stack stands, and to fill a new one. */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { lastWords } from './last-words.ts';
import { type EmbeddedPostgres, embeddedPostgres } from './postgres.ts';
import { StackError } from './stack-error.ts';
import { SupervisedProcess } from './supervised-process.ts';

/** It is given up when it ends this often without having worked. */
const FRUITLESS_STARTS = 3;
const LOOK_MS = 50;

/**
 * Starts Postgres at a port that is free, calls `work`, and stops it in order. Whoever calls it has the data directory for himself.
 * @throws {StackError} when it does not start
 */
export async function withPostgresAlone<T>(
  dataDir: string,
  work: (postgres: EmbeddedPostgres) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const postgres = await embeddedPostgres(dataDir, await freePort());
  const part = new SupervisedProcess(postgres.plan, () => undefined);
  part.start();
  try {
    while (part.state.state !== 'healthy') {
      signal?.throwIfAborted();
      if (part.fruitlessStarts >= FRUITLESS_STARTS) {
        throw new StackError(
          `postgres does not start: it ${part.state.last_exit}. It said: ${lastWords(postgres.plan.logFile)}`,
          1,
        );
      }
      await delay(LOOK_MS);
    }
    return await work(postgres);
  } finally {
    await postgres.close();
    await part.stop();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
