import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { tryToHold } from './machine-lock.ts';

/**
 * Below the range from which the kernel takes ports for outgoing connections: a server that is killed and started again
 * must find its port free.
 */
const FIRST = 12_000;
const LAST = 32_000;
/** Of the etcd of `deploy/dev-cluster`, which starts while other suites run, and of a test in Python. */
const FIXED = [12_379, 12_380, 15_000];

/**
 * A TCP port of 127.0.0.1 that was free a moment ago. No other process of the tests, and no other call, is given it while this process lives:
 * what it is for starts later, and may be killed and started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (FIXED.includes(port) || (await tryToHold(`port-${port}`)) === undefined) continue;
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
