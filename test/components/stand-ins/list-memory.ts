/**
 * A process that lists very many components from its own listener and prints, as JSON, how large the answer was and how far
 * the memory of JavaScript and that of buffers grew over what it was before. Started with `--expose-gc`.
 */
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { createTestApi } from '../../support/stack/test-api.ts';

const COUNT = Number(process.argv[2]);
/** Bytes of the answer between two looks. */
const SAMPLE = 2 ** 21;
const api = await createTestApi();
try {
  const entry = {
    clone_url: 'https://git.example.test/one.git',
    playbook: 'site.yml',
    commit: 'a'.repeat(40),
    status: 'applied',
    session_name: 'batcher-1',
    last_updated: '2026-11-21T10:00:00Z',
  };
  const state = JSON.stringify([entry, { ...entry, playbook: 'net.yml' }]);
  await sql`insert into components (id, state, updated_at)
    select 'c' || number, ${state}::jsonb, now() from generate_series(1, ${COUNT}::int) number`.execute(
    api.database.db,
  );
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = api.app.server.address() as AddressInfo;
  await bytesOf(port, 5_000, () => undefined);
  const before = memory();
  let most = before;
  let seen = 0;
  const bytes = await bytesOf(port, COUNT, (size) => {
    if (Math.floor(size / SAMPLE) === seen) return;
    seen = Math.floor(size / SAMPLE);
    most = Math.max(most, memory());
  });
  process.stdout.write(JSON.stringify({ bytes, samples: seen, grown: most - before }));
} finally {
  await api.close();
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes of a list with all its pages. */
async function bytesOf(port: number, limit: number, each: (size: number) => void): Promise<number> {
  let size = 0;
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `/v3/components?state_details=true&config_details=true&limit=${limit}&after_id=${after}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path }, resolve).on('error', reject);
    });
    let end = '';
    for await (const chunk of response) {
      size += (chunk as Buffer).length;
      end = (end + (chunk as Buffer).toString().slice(-500)).slice(-500);
      each(size);
    }
    after = /"after_id":"([^"]+)"\}\}$/.exec(end)?.[1] ?? null;
  }
  return size;
}
