import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of a socket's address in Linux (sun_path). */
const ADDRESS_BYTES = 108;

/**
 * Runs `work` while no other process on this machine runs it for the same name. The lock is a socket in Linux's abstract
 * namespace: it has no file, so a process that is killed leaves nothing behind that would have to be found stale.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {(text: string) => void} [onWait] called once when somebody else holds it
 * @returns {Promise<T>}
 */
export async function withLock(name, work, onWait) {
  const path = address(name);
  let told = false;
  for (;;) {
    const server = await listen(path);
    if (server) {
      try {
        return await work();
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    }
    if (!told) onWait?.('waiting for another start that installs the same');
    told = true;
    await sleep(200);
  }
}

/**
 * The address for a name. It fills all its bytes: Node 20 pads a shorter one with zeros and Node 24 does not, so that the
 * two would hold different locks; both run here, one as what installs and one as what is installed.
 */
function address(name) {
  const short = `\0muster-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  return short.padEnd(ADDRESS_BYTES, '.');
}

function listen(path) {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(path, () => resolve(server));
  });
}
