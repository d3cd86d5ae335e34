/** What the end of an automatic session writes where its members changed meanwhile, with results as a run records them. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { patchComponent } from '../../control/components/patch-components.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import type { ComponentBody } from '../../domain/components/schema.ts';
import type { RolloutPolicy } from '../../domain/configurations/schema.ts';
import type { HostStatus } from '../../domain/runs/schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import { findRollout } from '../../store/batches/rollouts.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { layerOf, openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
beforeEach(async () => {
  batcher = await openRealBatcher();
});
afterEach(() => batcher.close());

/** A fleet of two in one batch that was sent at 10 s and let in at 11 s; answers its session. */
async function sentPair(layers: number, rollout?: RolloutPolicy): Promise<{ id: string; name: string }> {
  const { db } = batcher.database;
  await batcher.configure('A', layers);
  if (rollout !== undefined) {
    const record = {
      name: 'A',
      last_updated: wireTime(batcher.clock()),
      layers: Array.from({ length: layers }, (_, index) => layerOf(index)),
      muster: { rollout },
    };
    await db
      .updateTable('configurations')
      .set({ record: JSON.stringify(record) })
      .execute();
  }
  await batcher.setOptions({ batch_size: 2 });
  await batcher.put({ id: 'n1' }, { id: 'n2' });
  // The first one begins the rollout.
  await batcher.pass(9);
  await batcher.pass(10);
  batcher.now.value = 11;
  const session = await db
    .selectFrom('sessions')
    .select(['id', 'name', 'ansible_limit'])
    .where('actor', '=', 'batcher')
    .executeTakeFirstOrThrow();
  expect(session.ansible_limit).toBe('n1,n2');
  await db
    .updateTable('sessions')
    .set({ stage: 'admitted', status: 'running', admitted_at: batcher.clock() })
    .where('id', '=', session.id)
    .execute();
  return session;
}

async function patch(id: string, body: ComponentBody, at: number): Promise<void> {
  batcher.now.value = at;
  const deps = { db: batcher.database.db, clock: batcher.clock, log: { warn: () => undefined } };
  await patchComponent(deps, { actor: null }, id, body);
}

const boots = (id: string, at: number) => patch(id, { state: [], enabled: true, muster: { boot: `boot ${at}` } }, at);

/** A layer of the session ends: what its hosts reached is recorded. */
async function layerEnds(
  session: { id: string; name: string },
  layer: number,
  hosts: Record<string, HostStatus>,
  attempt = 1,
): Promise<void> {
  const { db } = batcher.database;
  const place = { layer, attempt };
  const runId = `${session.id}-${attempt}-${layer}`;
  await ensureRun(db, { id: runId, sessionId: session.id, streamId: session.id, host: 'h', ...place }, new Date());
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const results = Object.entries(hosts).map(([host, status]) => ({ host, status, ...counts }));
  await insertHostResults(db, { runId, sessionId: session.id, ...place }, results);
  const { clone_url: cloneUrl, playbook, commit } = layerOf(layer);
  await recordLayer(
    db,
    {
      runId,
      streamId: session.id,
      ...place,
      sessionName: session.name,
      cloneUrl,
      playbook,
      commit,
    },
    new Date(),
  );
}

async function reached(id: string): Promise<{ state: string[]; errors: number }> {
  const row = await batcher.database.db
    .selectFrom('components')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { state: row.state.map(({ playbook, status }) => `${playbook} ${status}`), errors: row.error_count };
}

describe('a reboot while a session is at work charges nobody', () => {
  test('that is told before the host is found unreachable', async () => {
    const session = await sentPair(1, { max_failed: 0 });
    await boots('n1', 12);
    await layerEnds(session, 0, { n1: 'failed' });
    expect(await reached('n1')).toEqual({ state: ['layer0.yml incomplete'], errors: 0 });
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    await batcher.pass(30);
    expect(await reached('n1')).toEqual({ state: ['layer0.yml incomplete'], errors: 0 });
    expect(await reached('n2')).toEqual({ state: [], errors: 0 });
    expect(await findRollout(batcher.database.db, 'A')).toMatchObject({ state: 'rolling', tries_failed: 0 });
  });

  test('that is told when the host was found unreachable already', async () => {
    const session = await sentPair(1, { canary: 2 });
    await layerEnds(session, 0, { n1: 'failed' });
    await boots('n1', 12);
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    await batcher.pass(30);
    expect(await reached('n1')).toEqual({ state: [], errors: 0 });
    expect(await reached('n2')).toEqual({ state: [], errors: 0 });
    expect(await findRollout(batcher.database.db, 'A')).toMatchObject({ state: 'canary', tries_failed: 0 });
  });

  test('that a runner of elsewhere met: it reports to the components itself', async () => {
    const session = await sentPair(1);
    await boots('n1', 12);
    const { commit, ...layer } = layerOf(0);
    const state_append = { ...layer, commit: `${commit}_failed`, session_name: session.name };
    await patch('n1', { state_append, error_count: 1 }, 13);
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer0.yml incomplete'], errors: 0 });
    expect(await reached('n2')).toEqual({ state: [], errors: 0 });
  });

  test('not even in a session that fails before Ansible; the others have failed then', async () => {
    const session = await sentPair(1, { max_failed: '50%' });
    await boots('n1', 12);
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: [], errors: 0 });
    expect(await reached('n2')).toEqual({ state: ['layer0.yml failed'], errors: 1 });
    await batcher.pass(30);
    expect(await findRollout(batcher.database.db, 'A')).toMatchObject({ state: 'rolling', tries_failed: 1 });
  });
});

describe("a reboot that CFS's own reporter tells", () => {
  const reports = (id: string, at: number) => patch(id, { state: [], enabled: true }, at);

  test('between two layers leaves the host pending, and its rollout goes on', async () => {
    const session = await sentPair(2, { canary: 2 });
    await layerEnds(session, 0, { n1: 'applied', n2: 'applied' });
    await reports('n1', 12);
    await layerEnds(session, 1, { n1: 'applied', n2: 'applied' });
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer1.yml incomplete'], errors: 0 });
    expect(await reached('n2')).toEqual({ state: ['layer0.yml applied', 'layer1.yml applied'], errors: 0 });
    await batcher.pass(30);
    expect(await findRollout(batcher.database.db, 'A')).toMatchObject({ state: 'canary', done: 1, tries_failed: 0 });
  });

  test.each([['true'], ['false']] as const)(
    'twice in a session that ends %s: nothing is written for it',
    async (end) => {
      const session = await sentPair(1);
      await reports('n1', 12);
      await reports('n1', 14);
      await batcher.end(session.name, end);
      await batcher.pass(20);
      expect(await reached('n1')).toEqual({ state: [], errors: 0 });
      expect(await reached('n2')).toMatchObject({ errors: end === 'true' ? 0 : 1 });
    },
  );

  test('before the session was let in changes nothing of what it reports', async () => {
    const session = await sentPair(1);
    await reports('n1', 10.5);
    await layerEnds(session, 0, { n1: 'applied', n2: 'failed' });
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer0.yml applied'], errors: 0 });
  });
});

describe('what the session was not made for is not said to be reached', () => {
  const OTHER = 'https://git.example.test/other.git';
  /** The configuration as it is then. */
  async function change(layers: object[]): Promise<void> {
    const record = JSON.stringify({ name: 'A', last_updated: wireTime(batcher.clock()), layers });
    await batcher.database.db.updateTable('configurations').set({ record }).execute();
  }
  const addresses = async (id: string) => {
    const row = await batcher.database.db
      .selectFrom('components')
      .select('state')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return row.state.map(({ clone_url, playbook, status }) => `${clone_url} ${playbook} ${status}`);
  };
  const moved = (index: number) => ({ ...layerOf(index), clone_url: OTHER });

  test.each<[string, 'true' | 'false', () => Promise<void>]>([
    ['the address of its layers', 'true', () => change([moved(0), moved(1)])],
    ['the address of its layers, and it fails', 'false', () => change([moved(0), moved(1)])],
    ['the address of one of its layers', 'true', () => change([layerOf(0), moved(1)])],
    ['the order of its layers', 'true', () => change([layerOf(1), layerOf(0)])],
    ['the playbook of one', 'true', () => change([layerOf(0), { ...layerOf(1), playbook: 'other.yml' }])],
    ['the number of its layers', 'true', () => change([layerOf(0)])],
  ])('when %s changed: it stays as it is and goes into a new session', async (_, end, changes) => {
    const session = await sentPair(2);
    await changes();
    await batcher.end(session.name, end);
    await batcher.pass(20);
    expect(await addresses('n1')).toEqual([]);
    expect(await reached('n1')).toEqual({ state: [], errors: 0 });
    await batcher.pass(100);
    const sessions = await batcher.database.db.selectFrom('sessions').select('name').execute();
    expect(sessions).toHaveLength(2);
  });

  test('when the address that a source gives changed', async () => {
    const source = (clone_url: string) =>
      batcher.database.db
        .insertInto('sources')
        .values({
          name: 's',
          record: JSON.stringify({ name: 's', clone_url }),
          updated_at: batcher.clock(),
          actor: null,
        })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ record: JSON.stringify({ name: 's', clone_url }) }),
        )
        .execute();
    await source(layerOf(0).clone_url);
    const { clone_url: _, ...layer } = layerOf(0);
    await batcher.configure('A', 1);
    await change([{ ...layer, source: 's' }]);
    await batcher.setOptions({ batch_size: 1 });
    await batcher.put({ id: 'n1' });
    await batcher.pass(10);
    await source(OTHER);
    const session = await batcher.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await addresses('n1')).toEqual([]);
  });

  test('when the default playbook changed, of a layer that names none', async () => {
    const { playbook: _, ...layer } = layerOf(0);
    await batcher.configure('A', 1);
    await change([layer, layerOf(1)]);
    await batcher.setOptions({ batch_size: 1 });
    await batcher.put({ id: 'n1' });
    await batcher.pass(10);
    await batcher.setOptions({ default_playbook: 'other.yml' });
    const session = await batcher.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await addresses('n1')).toEqual([]);
  });

  test('when a layer that was not in it changed its address: its own layers are', async () => {
    await batcher.configure('A', 2);
    await batcher.setOptions({ batch_size: 1 });
    await batcher.put({ id: 'n1', state: [[0, 'applied']] });
    await batcher.pass(10);
    await change([moved(0), layerOf(1)]);
    const session = await batcher.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await addresses('n1')).toEqual([
      `${layerOf(0).clone_url} layer0.yml applied`,
      `${layerOf(1).clone_url} layer1.yml skipped`,
    ]);
  });
});

test('a failure of which a later attempt made a success is not the cause of what ended the session', async () => {
  const session = await sentPair(2);
  await layerEnds(session, 0, { n1: 'failed', n2: 'applied' });
  await layerEnds(session, 0, { n1: 'applied' }, 2);
  await batcher.end(session.name, 'unknown');
  await batcher.pass(20);
  expect(await reached('n1')).toEqual({ state: ['layer0.yml applied', 'layer1.yml failed'], errors: 1 });
});

describe('the end of a session leaves alone what was ordered again meanwhile', () => {
  test('a layer that was not in the session', async () => {
    const session = await sentSecondLayer();
    // Somebody has layer 0 configured again; the session is for layer 1 alone.
    await patch('n1', { state: [] }, 12);
    await layerEnds(session, 1, { n2: 'applied' });
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer1.yml skipped'], errors: 0 });
    expect(await limits()).toEqual(['1', '0']);
  });

  test('a layer that the session had configured before', async () => {
    const session = await sentPair(2);
    await layerEnds(session, 0, { n1: 'applied', n2: 'applied' });
    await patch('n1', { state: [] }, 12);
    await layerEnds(session, 1, { n2: 'applied' });
    await batcher.end(session.name, 'true');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer1.yml skipped'], errors: 0 });
    expect(await reached('n2')).toEqual({ state: ['layer0.yml applied', 'layer1.yml applied'], errors: 0 });
  });

  test('a failed session fails a layer of its own', async () => {
    const session = await sentSecondLayer();
    await patch('n1', { state: [] }, 12);
    await batcher.end(session.name, 'false');
    await batcher.pass(20);
    expect(await reached('n1')).toEqual({ state: ['layer1.yml failed'], errors: 1 });
  });

  /** The same pair, which has layer 0 already. */
  async function sentSecondLayer() {
    const put = batcher.put;
    batcher.put = (...given) =>
      put(...given.map((one) => ({ ...one, state: [[0, 'applied']] as [number, 'applied'][] })));
    const session = await sentPair(2);
    batcher.put = put;
    return session;
  }

  async function limits() {
    await batcher.pass(90);
    const rows = await batcher.database.db
      .selectFrom('sessions')
      .select('configuration_limit')
      .where('actor', '=', 'batcher')
      .orderBy('queue')
      .execute();
    return rows.map((row) => row.configuration_limit);
  }
});
