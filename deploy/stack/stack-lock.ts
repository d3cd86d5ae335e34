import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/**
 * Takes the data directory for this process; null when another one has it. The lock is a socket in Linux's abstract
 * namespace, which the kernel drops with the process however it ends, so no lock is ever stale.
 */
export async function lockDataDirectory(dataDir: string): Promise<Server | null> {
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32);
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(`\0muster-stack-${name}`, () => resolve(server.unref()));
  });
}
