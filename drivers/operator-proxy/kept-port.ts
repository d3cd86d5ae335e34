import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const LOOPBACK = '127.0.0.1';
/** Live runs hold the port that was taken. */
const PORT_FILE = 'port';

/**
 * Has a server listen on loopback. `wanted`: its port; 0 for the one that this folder had before, or any.
 * Throws where the wanted port is taken.
 */
export async function listenOnKeptPort(server: Server, folder: string, wanted: number): Promise<void> {
  const kept = wanted === 0 ? await keptPort(folder) : wanted;
  try {
    await listenOn(server, kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (wanted !== 0) throw new Error(`--proxy-port: port ${wanted} is taken; free it, or name another one`);
    await listenOn(server, 0);
  }
  if (wanted === 0) await writeFile(join(folder, PORT_FILE), String((server.address() as AddressInfo).port));
}

async function listenOn(server: Server, port: number): Promise<void> {
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
}

async function keptPort(folder: string): Promise<number> {
  const port = Number(await readFile(join(folder, PORT_FILE), 'utf8').catch(() => '0'));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
}
