import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { tryToHold } from './stack/machine-lock.ts';

/**
 * Below the range from which the kernel takes ports for outgoing connections: a server that is killed and started again
 * must find its port free.
 */
const FIRST = 12_000;
const LAST = 32_000;
/** Each call has so many to itself: some who ask take those that follow as well. */
const STEP = 10;
/**
 * Ranges of others: the etcd of `deploy/dev-cluster`, which starts while other suites run, a test in Python, and the shells of a stack
 * that names no ports for them.
 */
const TAKEN = [
  [12_379, 12_380],
  [15_000, 15_000],
  [22_200, 22_399],
] as const;

/**
 * A TCP port of 127.0.0.1 that was free a moment ago. No other process of the tests, and no other call, is given it or the nine after it
 * while this process lives: what it is for starts later, and may be killed and started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST / STEP, LAST / STEP) * STEP;
    if (TAKEN.some(([from, to]) => from < port + STEP && to >= port)) continue;
    if ((await tryToHold(`port-${port}`)) === undefined) continue;
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
