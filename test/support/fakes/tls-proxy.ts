import { connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { freePort } from '../free-port.ts';

/** A port of 127.0.0.1 that speaks TLS (with HTTP/2) and hands everything to a plain port behind it. */
export async function startTlsProxy(
  tls: { key: string; cert: string },
  target: number,
): Promise<{ port: number; connections(): number; stop(): Promise<void> }> {
  const port = await freePort();
  const open = new Set<TLSSocket>();
  let count = 0;
  const server = createServer({ ...tls, ALPNProtocols: ['h2'] }, (outer) => {
    count += 1;
    open.add(outer);
    const inner = connect(target, '127.0.0.1');
    outer.pipe(inner).pipe(outer);
    const end = () => {
      open.delete(outer);
      outer.destroy();
      inner.destroy();
    };
    for (const socket of [outer, inner]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    connections: () => count,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
