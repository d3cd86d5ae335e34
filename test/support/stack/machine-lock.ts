import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

type Release = () => Promise<void>;

/**
 * Holds a name for this process alone on this machine. It is a socket in Linux's abstract namespace, which has no file: a
 * process that is killed leaves nothing behind.
 * @returns gives the name back; undefined when somebody else holds it
 */
export async function tryToHold(name: string): Promise<Release | undefined> {
  const server = await listen(`\0muster-test-${name}`);
  return server && (() => new Promise((resolve) => server.close(() => resolve())));
}

/** The same, and waits for it. `onWait` is called once when somebody else holds it. */
export async function holdOnMachine(name: string, onWait: () => void): Promise<Release> {
  let told = false;
  for (;;) {
    const release = await tryToHold(name);
    if (release !== undefined) return release;
    if (!told) onWait();
    told = true;
    await delay(500);
  }
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(path, () => resolve(server.unref()));
  });
}
