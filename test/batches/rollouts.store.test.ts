/** Rollouts on the real engine and a real Postgres, with passes every 10 s. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { resumeRollout, stopRolloutByHand } from '../../control/batches/command-rollout.ts';
import type { RolloutPolicy } from '../../domain/configurations/schema.ts';
import { findRollout, pageRollouts } from '../../store/batches/rollouts.ts';
import { layerOf, openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
let at = 0;

beforeAll(async () => {
  batcher = await openRealBatcher();
});
afterAll(() => batcher.close());
beforeEach(async () => {
  const { db } = batcher.database;
  for (const table of ['batch_members', 'batches', 'rollout_members', 'rollouts', 'component_leases'] as const) {
    await db.deleteFrom(table).execute();
  }
  await db.deleteFrom('sessions').execute();
  await db.deleteFrom('components').execute();
  await db.deleteFrom('configurations').execute();
  await batcher.setOptions({ batch_size: 4, batch_window: 0 });
  at = 0;
});

const ids = (count: number) => Array.from({ length: count }, (_, n) => `c${String(n).padStart(2, '0')}`);
const pass = async () => {
  at += 10;
  return batcher.pass(at);
};

/** A configuration of one layer with a policy; another revision is another commit. */
async function configure(rollout: RolloutPolicy | undefined, revision = 0): Promise<void> {
  await batcher.configure('A', 1, revision);
  if (rollout === undefined) return;
  const record = {
    name: 'A',
    last_updated: '2026-11-21T10:00:00Z',
    layers: [layerOf(0, revision)],
    muster: { rollout },
  };
  await batcher.database.db
    .updateTable('configurations')
    .set({ record: JSON.stringify(record) })
    .where('name', '=', 'A')
    .execute();
}

/** The sessions that are not complete, with their hosts. */
async function open(): Promise<{ name: string; hosts: string[] }[]> {
  const rows = await batcher.database.db
    .selectFrom('sessions')
    .select(['name', 'ansible_limit'])
    .where('status', '<>', 'complete')
    .where('deleted_at', 'is', null)
    .orderBy('queue')
    .execute();
  return rows.map(({ name, ansible_limit }) => ({ name, hosts: (ansible_limit ?? '').split(',') }));
}

const inSessions = async () => (await open()).flatMap(({ hosts }) => hosts).sort();
const rollout = async () => findRollout(batcher.database.db, 'A');
const commands = () => ({ db: batcher.database.db, clock: batcher.clock });

async function endAll(succeeded: 'true' | 'false'): Promise<void> {
  for (const { name } of await open()) await batcher.end(name, succeeded);
}

describe('without a policy', () => {
  test('nothing is gated and no rollout is made', async () => {
    await configure(undefined);
    await batcher.put(...ids(10).map((id) => ({ id })));
    await pass();
    await pass();
    expect(await inSessions()).toEqual(ids(10));
    expect(await rollout()).toBeNull();
  });
});

describe('so many at once', () => {
  test.each<[RolloutPolicy, number]>([
    [{ max_at_once: 3 }, 3],
    [{ max_at_once: '30%' }, 3],
    [{ max_at_once: '1%' }, 1],
    [{ max_at_once: 6 }, 6],
    // Batches of four; the last two wait until their window is over.
    [{ max_at_once: '100%' }, 8],
  ])('%j never has more than %i of 10 in sessions, and gets all done', async (policy, most) => {
    await configure(policy);
    await batcher.put(...ids(10).map((id) => ({ id })));
    let largest = 0;
    for (let n = 0; n < 40 && (await rollout())?.state !== 'done'; n += 1) {
      await pass();
      largest = Math.max(largest, (await inSessions()).length);
      await endAll('true');
    }
    expect(largest).toBe(most);
    expect(await rollout()).toMatchObject({ state: 'done', components: 10, pending: 0, done: 10, in_sessions: 0 });
    expect((await rollout())?.ended_at).not.toBeNull();
  });

  test('batches from before the policy are cut to its size', async () => {
    await batcher.setOptions({ batch_window: 600 });
    await configure(undefined);
    await batcher.put(...ids(3).map((id) => ({ id })));
    await pass();
    await configure({ max_at_once: 1 });
    await batcher.setOptions({ batch_window: 0 });
    await pass();
    expect(await inSessions()).toHaveLength(1);
  });

  test('a session of what the configuration desired before counts', async () => {
    await configure({ max_at_once: 2 });
    await batcher.put(...ids(4).map((id) => ({ id })));
    await pass();
    const before = await inSessions();
    expect(before).toHaveLength(2);
    await configure({ max_at_once: 2 }, 1);
    await pass();
    await pass();
    expect(await inSessions()).toEqual(before);
    await endAll('true');
    await pass();
    expect(await inSessions()).toHaveLength(2);
  });
});

describe('canary', () => {
  test('so many first, the rest when they are configured', async () => {
    await configure({ canary: 2 });
    await batcher.put(...ids(9).map((id) => ({ id })));
    await pass();
    expect(await inSessions()).toHaveLength(2);
    expect(await rollout()).toMatchObject({ state: 'canary', components: 9, pending: 9 });
    await pass();
    await pass();
    expect(await inSessions()).toHaveLength(2);
    await endAll('true');
    await pass();
    await pass();
    expect(await rollout()).toMatchObject({ state: 'rolling', done: 2, pending: 7 });
    expect(await inSessions()).toHaveLength(7);
  });

  test('one that fails stops it; resumed, it tries the canary again', async () => {
    await configure({ canary: 2 });
    await batcher.put(...ids(9).map((id) => ({ id })));
    await pass();
    await endAll('false');
    await pass();
    const reason = '2 components of the canary failed';
    expect(await rollout()).toMatchObject({ state: 'stopped', stage: 'canary', reason, stopped_by: 'batcher' });
    await pass();
    await pass();
    expect(await inSessions()).toEqual([]);
    await resumeRollout(commands(), { actor: 'ops' }, 'A');
    expect(await rollout()).toMatchObject({ state: 'canary', tries_failed: 0, resumed_by: 'ops' });
    for (let n = 0; n < 3; n += 1) await pass();
    expect(await inSessions()).toHaveLength(2);
    await endAll('true');
    for (let n = 0; n < 3; n += 1) await pass();
    expect(await rollout()).toMatchObject({ state: 'rolling', done: 2 });
    expect(await inSessions()).toHaveLength(7);
  });

  test('a fleet that is smaller than its canary is done with it', async () => {
    await configure({ canary: 5 });
    await batcher.put(...ids(2).map((id) => ({ id })));
    await pass();
    await pass();
    await endAll('true');
    await pass();
    expect(await rollout()).toMatchObject({ state: 'done', done: 2 });
  });
});

describe('so many failures', () => {
  test('one more than allowed stops it, and nothing is sent until it is resumed or replaced', async () => {
    await configure({ max_at_once: 2, max_failed: 2 });
    await batcher.put(...ids(10).map((id) => ({ id, retries: 1 })));
    await pass();
    await endAll('false');
    await pass();
    expect(await rollout()).toMatchObject({ state: 'rolling', tries_failed: 2, failed: 2 });
    await endAll('false');
    await pass();
    const reason = '4 components of 10 failed, more than 2';
    expect(await rollout()).toMatchObject({ state: 'stopped', reason });
    const report = await pass();
    expect(await inSessions()).toEqual([]);
    expect(report?.waits.rollout).toBeGreaterThan(0);
    await configure({ max_at_once: 2, max_failed: 2 }, 1);
    await pass();
    await pass();
    expect(await rollout()).toMatchObject({ state: 'rolling', reason: null, tries_failed: 0 });
    expect(await inSessions()).toHaveLength(2);
    const all = await pageRollouts(batcher.database.db, {
      configuration: 'A',
      state: undefined,
      current: false,
      before: null,
      limit: 9,
    });
    expect(all.map(({ state, is_current }) => [state, is_current])).toEqual([
      ['rolling', true],
      ['replaced', false],
    ]);
  });

  test('a component whose retry succeeds has not failed', async () => {
    await configure({ max_failed: 1 });
    await batcher.put({ id: 'a' }, { id: 'b', state: [[0, 'failed']] });
    await pass();
    await pass();
    const [first] = await open();
    await batcher.end(first?.name ?? '', 'false');
    await pass();
    expect(await rollout()).toMatchObject({ state: 'rolling', tries_failed: 1 });
    await pass();
    await endAll('true');
    await pass();
    expect(await rollout()).toMatchObject({ state: 'done', tries_failed: 0, done: 2 });
  });
});

describe('by hand', () => {
  test('stop, resume, and what is refused', async () => {
    await configure({ max_at_once: 2 });
    await expect(stopRolloutByHand(commands(), { actor: 'ops' }, 'A', undefined)).rejects.toMatchObject({
      code: 'rollout_not_found',
    });
    await batcher.put(...ids(4).map((id) => ({ id })));
    await pass();
    await expect(resumeRollout(commands(), { actor: 'ops' }, 'A')).rejects.toMatchObject({
      code: 'rollout_not_stopped',
    });
    await stopRolloutByHand(commands(), { actor: 'ops' }, 'A', 'power work');
    await endAll('true');
    await pass();
    await pass();
    expect(await inSessions()).toEqual([]);
    expect(await rollout()).toMatchObject({ state: 'stopped', reason: 'power work', stopped_by: 'ops', done: 2 });
    await resumeRollout(commands(), { actor: 'ops' }, 'A');
    await pass();
    await pass();
    expect(await inSessions()).toHaveLength(2);
    await endAll('true');
    await pass();
    await expect(stopRolloutByHand(commands(), { actor: 'ops' }, 'A', undefined)).rejects.toMatchObject({
      code: 'rollout_not_running',
    });
  });
});

test('a stop between plan and send holds the batch back', async () => {
  await configure({ max_at_once: 2 });
  await batcher.setOptions({ batch_window: 30 });
  await batcher.put({ id: 'a' });
  await pass();
  await batcher.database.db.updateTable('rollouts').set({ version: 'of before' }).execute();
  const { sendBatch } = await import('../../control/batches/send-batch.ts');
  const { readOptions } = await import('../../store/configurations/options.ts');
  const { db } = batcher.database;
  const batch = await db.selectFrom('batches').select('id').executeTakeFirstOrThrow();
  const deps = {
    db,
    clock: batcher.clock,
    dispatcher: { kick: () => undefined },
    log: console,
    options: await readOptions(db),
  };
  expect(await sendBatch(deps, { batch: batch.id, probe: false, keyProbe: false, holdProbe: false })).toBe('held');
  expect(await open()).toEqual([]);
});

test('done goes on when a component falls behind again, and a policy that goes ends it', async () => {
  await configure({ canary: 1, max_at_once: 1 });
  await batcher.put(...ids(2).map((id) => ({ id })));
  for (let n = 0; n < 6; n += 1) {
    await pass();
    await endAll('true');
  }
  await pass();
  expect(await rollout()).toMatchObject({ state: 'done', done: 2 });
  await batcher.put(...ids(2).map((id) => ({ id })));
  await pass();
  await pass();
  expect(await rollout()).toMatchObject({ state: 'rolling', ended_at: null });
  expect(await inSessions()).toHaveLength(1);
  await configure(undefined);
  await pass();
  await pass();
  expect(await rollout()).toBeNull();
  expect(await inSessions()).toEqual(ids(2));
});
