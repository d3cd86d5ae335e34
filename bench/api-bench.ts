/** Measurements on an API in a process of its own, which asks for tokens; there is a database and no workflow engine. */
import { createToken } from '../control/access/create-token.ts';
import type { TokenCreate } from '../domain/access/schema.ts';
import { openDatabase } from '../store/connection/database.ts';
import { startPostgresServer, TEMPLATE } from '../test/support/postgres/postgres-server.ts';
import { startApiProcess } from '../test/support/stack/api-process.ts';
import type { Measurement } from './measurement.ts';
import { measureRevoked, type TokenApi } from './measurements/revoked-streams.ts';

export type ApiWork = (api: TokenApi) => Promise<Measurement>;

export const ACCESS: Record<string, ApiWork> = { revoked: measureRevoked };

export async function measureOnApi(work: [string, ApiWork][]): Promise<Measurement[]> {
  if (work.length === 0) return [];
  const server = await startPostgresServer();
  try {
    const url = server.url.replace(/\/postgres$/, `/${TEMPLATE}`);
    const api = await startApiProcess(url, { MUSTER_AUTH: 'token' });
    const db = openDatabase({ url, poolSize: 2, name: 'bench' });
    try {
      const make = async (token: TokenCreate) =>
        (await createToken({ db, clock: () => new Date() }, { actor: null }, token)).token;
      const results: Measurement[] = [];
      for (const [name, run] of work) {
        process.stderr.write(`measuring ${name}\n`);
        results.push(await run({ url: api.base, make }));
      }
      return results;
    } finally {
      await db.destroy();
      await api.stop();
    }
  } finally {
    await server.stop();
  }
}
