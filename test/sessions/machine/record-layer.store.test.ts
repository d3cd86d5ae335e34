/** What hosts reached, on their components: cfs-flows 4.4, cfs-api 6.3. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type LayerRecord, recordLayer } from '../../../control/components/record-layer.ts';
import type { StateLayer } from '../../../domain/components/schema.ts';
import type { HostStatus } from '../../../domain/runs/schema.ts';
import { sessionOfRun } from '../../../domain/sessions/run-id.ts';
import { insertHostResults, unsuccessfulHosts } from '../../../store/runs/host-results.ts';
import { ensureRun } from '../../../store/runs/runs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { COMMIT, makeSession } from '../../support/temporal/engine-sessions.ts';
import { hostResult } from '../session-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const URL = 'https://git.test/plays.git';
const stored = (given: Partial<StateLayer> = {}): StateLayer => ({
  clone_url: URL,
  playbook: 'site.yml',
  commit: 'f'.repeat(40),
  status: 'applied',
  session_name: 'before',
  last_updated: '2026-01-01T00:00:00Z',
  ...given,
});

async function component(errorCount = 0, state: StateLayer[] = []): Promise<string> {
  const id = `x${randomUUID().slice(0, 13)}`;
  await database.db
    .insertInto('components')
    .values({
      id,
      desired_config: '',
      error_count: errorCount,
      retry_policy: null,
      enabled: true,
      tags: '{}',
      state: JSON.stringify(state),
      updated_at: new Date(0),
      actor: null,
    })
    .execute();
  return id;
}

const componentNow = (id: string) =>
  database.db.selectFrom('components').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** A run of a session of its own with these results, not yet recorded. */
async function runWith(results: Record<string, HostStatus>): Promise<LayerRecord> {
  const session = await makeSession(database.db);
  const place = { layer: 0, attempt: 1 };
  const runId = `${session.id}-1-0`;
  await ensureRun(
    database.db,
    { id: runId, sessionId: session.id, streamId: session.id, host: 'h', ...place },
    new Date(),
  );
  const hosts = Object.entries(results).map(([host, status]) => hostResult(host, status));
  await insertHostResults(database.db, { runId, sessionId: session.id, ...place }, hosts);
  return {
    runId,
    streamId: session.id,
    ...place,
    sessionName: session.name,
    cloneUrl: URL,
    playbook: 'site.yml',
    commit: COMMIT,
  };
}

const messagesOf = async (streamId: string) =>
  (await database.db.selectFrom('events').select('data').where('stream_id', '=', streamId).execute()).map(
    ({ data }) => data.message,
  );

describe('one report', () => {
  test.each([
    ['applied', 4, 0],
    ['failed', 4, 5],
    ['incomplete', 4, 4],
    ['failed', 0, 1],
  ] as [HostStatus, number, number][])('of %s turns an error count of %i into %i', async (status, before, after) => {
    const id = await component(before);
    const record = await runWith({ [id]: status });
    await recordLayer(database.db, record, new Date());
    const { error_count, state, updated_at } = await componentNow(id);
    expect(error_count).toBe(after);
    expect(state).toEqual([
      {
        clone_url: URL,
        playbook: 'site.yml',
        commit: COMMIT,
        status,
        session_name: record.sessionName,
        last_updated: `${updated_at.toISOString().slice(0, 19)}Z`,
      },
    ]);
    expect(Date.now() - updated_at.getTime()).toBeLessThan(60_000);
  });

  test('replaces what is stored of the same repository and playbook, whatever its commit, and comes last', async () => {
    const others = [stored({ playbook: 'other.yml' }), stored({ clone_url: 'https://git.test/other.git' })];
    const [first, second] = others;
    const id = await component(0, [
      stored(),
      ...(first ? [first] : []),
      stored({ commit: COMMIT, status: 'failed' }),
      ...(second ? [second] : []),
    ]);
    await recordLayer(database.db, await runWith({ [id]: 'applied' }), new Date());
    const { state } = await componentNow(id);
    expect(state.slice(0, 2)).toEqual(others);
    expect(state).toHaveLength(3);
    expect(state[2]).toMatchObject({ commit: COMMIT, status: 'applied' });
  });

  test('keeps entries that lack a playbook or a repository', async () => {
    const odd = [{ clone_url: URL, commit: 'c' }, { playbook: 'site.yml' }] as unknown as StateLayer[];
    const id = await component(0, odd);
    await recordLayer(database.db, await runWith({ [id]: 'applied' }), new Date());
    expect((await componentNow(id)).state).toMatchObject([...odd, { commit: COMMIT }]);
  });

  test('touches nobody who had no result', async () => {
    const [reported, other] = [await component(2), await component(2, [stored()])];
    await recordLayer(database.db, await runWith({ [reported]: 'applied' }), new Date());
    expect(await componentNow(other)).toMatchObject({ error_count: 2, state: [stored()], updated_at: new Date(0) });
  });

  test('leaves out hosts that are no component and names them', async () => {
    const id = await component();
    const record = await runWith({ localhost: 'failed', [id]: 'applied', 'extra-host': 'applied' });
    await recordLayer(database.db, record, new Date());
    expect(await messagesOf(record.streamId)).toEqual(['not recorded, no such component: extra-host, localhost']);
    const rows = await database.db
      .selectFrom('host_results')
      .select(['host', 'recorded'])
      .where('run_id', '=', record.runId)
      .execute();
    expect(rows.filter((row) => row.recorded).map((row) => row.host)).toEqual([id]);
  });

  test.each([
    [10, /h09$/],
    [11, /h09 and 1 more$/],
  ])('names at most 10 of %i unknown hosts', async (count, end) => {
    const hosts = Array.from({ length: count }, (_, index) => `h${String(index).padStart(2, '0')}`);
    const record = await runWith(Object.fromEntries(hosts.map((host) => [host, 'applied'])));
    await recordLayer(database.db, record, new Date());
    expect(await messagesOf(record.streamId)).toEqual([expect.stringMatching(end)]);
  });

  test('counts once, however often and concurrently it is made', async () => {
    const id = await component(1);
    const record = await runWith({ [id]: 'failed', nobody: 'failed' });
    await Promise.all(Array.from({ length: 6 }, () => recordLayer(database.db, record, new Date())));
    await recordLayer(database.db, record, new Date());
    expect(await componentNow(id)).toMatchObject({ error_count: 2, state: [{ status: 'failed' }] });
    expect(await messagesOf(record.streamId)).toHaveLength(1);
  });
});

describe('many reports', () => {
  test('at once, beside increments of others, lose no failure', async () => {
    const ids = [await component(), await component(), await component()];
    const runs = await Promise.all(
      Array.from({ length: 8 }, () => runWith(Object.fromEntries(ids.map((id) => [id, 'failed' as const])))),
    );
    const bump = (id: string) =>
      database.db
        .updateTable('components')
        .set((eb) => ({ error_count: eb('error_count', '+', 1), updated_at: new Date() }))
        .where('id', '=', id)
        .execute();
    await Promise.all([
      ...runs.map((record) => recordLayer(database.db, record, new Date())),
      ...ids.flatMap((id) => [bump(id), bump(id)]),
    ]);
    for (const id of ids)
      expect(await componentNow(id)).toMatchObject({ error_count: 10, state: [{ status: 'failed' }] });
  });

  test('of different playbooks at once lose no entry', async () => {
    const id = await component();
    const runs = await Promise.all(Array.from({ length: 6 }, () => runWith({ [id]: 'applied' })));
    await Promise.all(
      runs.map((record, index) => recordLayer(database.db, { ...record, playbook: `p${index}.yml` }, new Date())),
    );
    const { state } = await componentNow(id);
    expect(state.map(({ playbook }) => playbook).sort()).toEqual(runs.map((_, index) => `p${index}.yml`));
  });

  test('of 10,000 hosts are one', async () => {
    const prefix = randomUUID().slice(0, 8);
    const state = JSON.stringify([stored({ playbook: 'other.yml' }), stored()]);
    await sql`
      insert into components (id, error_count, state, updated_at)
      select ${prefix} || '-' || n, n % 3, ${state}::jsonb, now() from generate_series(1, 10000) as n
    `.execute(database.db);
    const hosts = Array.from({ length: 10_000 }, (_, index) => `${prefix}-${index + 1}`);
    const statuses: HostStatus[] = ['applied', 'failed', 'incomplete'];
    const record = await runWith(
      Object.fromEntries(hosts.map((host, index) => [host, statuses[index % 3] ?? 'applied'])),
    );
    await recordLayer(database.db, record, new Date());
    const { rows } = await sql<{ status: string; before: number; error_count: number; count: number }>`
      select state->-1->>'status' as status, split_part(id, '-', 2)::int % 3 as before, error_count, count(*) as count
      from components where id like ${`${prefix}-%`} and jsonb_array_length(state) = 2
        and state->0->>'playbook' = 'other.yml' and state->-1->>'session_name' = ${record.sessionName}
      group by 1, 2, 3 order by 1
    `.execute(database.db);
    expect(rows).toEqual([
      { status: 'applied', before: 1, error_count: 0, count: 3334 },
      { status: 'failed', before: 2, error_count: 3, count: 3333 },
      { status: 'incomplete', before: 0, error_count: 0, count: 3333 },
    ]);
    expect(await messagesOf(record.streamId)).toEqual([]);
  });
});

test('hosts that did not succeed, for a retry', async () => {
  const record = await runWith({ c: 'failed', a: 'incomplete', b: 'applied' });
  expect(await unsuccessfulHosts(database.db, { sessionId: sessionOfRun(record.runId), layer: 0, before: 2 })).toEqual([
    'a',
    'c',
  ]);
});
