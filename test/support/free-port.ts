import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which the kernel takes ports for outgoing connections: a server that is killed and started again
 * must find its port free.
 */
const FIRST = 12_000;
const LAST = 32_000;

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
