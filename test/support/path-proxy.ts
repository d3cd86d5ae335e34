/** A proxy that serves a site below a prefix, as one in front of many services does. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

interface PathProxy {
  /** Without slash at the end. */
  url: string;
  /** Paths outside the prefix that were asked for. */
  strays: string[];
  /** Sends what comes from now on to this origin. */
  serve(target: string): void;
  close(): Promise<void>;
}

/** Starts it on a port of its own; what is below `prefix` (`/fleet`) comes without it to the target. */
export async function startPathProxy(prefix: string): Promise<PathProxy> {
  let target = '';
  const strays: string[] = [];
  const server = createServer((asked, answer) => {
    const path = asked.url ?? '/';
    if (!path.startsWith(`${prefix}/`)) {
      strays.push(path);
      answer.writeHead(404).end();
      return;
    }
    const { method, headers } = asked;
    const onward = request(`${target}${path.slice(prefix.length)}`, { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    strays,
    serve: (origin) => {
      target = origin;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
