/** What Muster records of a component that others have filled to its bounds. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { appendEntries } from '../../control/components/append-entries.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import { MAX_COMPONENT_BYTES } from '../../domain/components/component-size.ts';
import type { StateLayer } from '../../domain/components/schema.ts';
import { lockComponents } from '../../store/components/components.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const entry = (number: number, members: Partial<StateLayer> = {}): StateLayer => ({
  clone_url: 'https://git.example.test/foreign.git',
  playbook: `p${number}.yml`,
  commit: 'c',
  status: 'applied',
  session_name: 'foreign',
  last_updated: '2026-11-21T10:00:00Z',
  ...members,
});
const store = (id: string, state: StateLayer[]) =>
  sql`insert into components (id, updated_at, state) values (${id}, now(), ${JSON.stringify(state)}::jsonb)`.execute(
    database.db,
  );
const stateOf = async (id: string) =>
  (await database.db.selectFrom('components').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state;

async function reportOf(hosts: string[]) {
  const { db } = database;
  const { id, name } = await makeSession(db, {});
  const runId = `${id}-1-0`;
  await ensureRun(db, { id: runId, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'disk' }, new Date());
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const run = { runId, sessionId: id, layer: 0, attempt: 1 };
  await insertHostResults(
    db,
    run,
    hosts.map((host) => ({ host, status: 'applied' as const, ...counts })),
  );
  const layer = { cloneUrl: 'u', playbook: 'p', commit: 'c' };
  await recordLayer(db, { runId, streamId: id, layer: 0, attempt: 1, sessionName: name, ...layer }, new Date());
  const events = await db.selectFrom('events').select('data').where('stream_id', '=', id).execute();
  return { name, warnings: events.map(({ data }) => JSON.stringify(data)) };
}

test('a session takes the place of the oldest entries of others, and says so', async () => {
  const own = await makeSession(database.db, {});
  const full = Array.from({ length: 1_000 }, (_, number) => entry(number));
  full[0] = entry(0, { session_name: own.name });
  await store('many', full);
  await store('long', [entry(1, { clone_url: 'x'.repeat(200_000) }), entry(2, { commit: 'x'.repeat(61_700) })]);
  await store('usual', [entry(1)]);
  const { name, warnings } = await reportOf(['many', 'long', 'usual']);
  const many = await stateOf('many');
  expect([many.length, many[0]?.session_name, many[1]?.playbook]).toEqual([1_000, own.name, 'p2.yml']);
  expect(many.at(-1)).toMatchObject({ session_name: name, status: 'applied' });
  const long = await stateOf('long');
  expect(long.map(({ session_name }) => session_name)).toEqual(['foreign', name]);
  expect(JSON.stringify(long).length).toBeLessThan(MAX_COMPONENT_BYTES);
  expect(await stateOf('usual')).toHaveLength(2);
  expect(warnings).toEqual([expect.stringContaining('the component is full: long, many')]);
});

test('so does what the batcher records', async () => {
  await store(
    'batched',
    Array.from({ length: 1_000 }, (_, number) => entry(number)),
  );
  const { last_updated: _, ...failed } = entry(2_000, { session_name: 'batcher-1', status: 'failed' });
  await database.db.transaction().execute(async (trx) => {
    const locked = await lockComponents(trx, ['batched']);
    await appendEntries(trx, locked, [{ id: 'batched', entries: [failed], errors: 1 }], {
      actor: 'batcher',
      now: new Date(),
    });
  });
  const state = await stateOf('batched');
  expect([state.length, state[0]?.playbook, state.at(-1)?.status]).toEqual([1_000, 'p1.yml', 'failed']);
});
