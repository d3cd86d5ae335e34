/** A fault of the controller holds a batch key, costs no host a try, and lets go by itself; on a real Postgres. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getBatch, listBatches, listBatchKeys, readBatcher } from '../../control/batches/read-batches.ts';
import { retryAfterSecret } from '../../control/batches/retry-after-secret.ts';
import { patchSession } from '../../control/sessions/patch-session.ts';
import { readGauges } from '../../store/fleet/gauges.ts';
import { openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
beforeEach(async () => {
  batcher = await openRealBatcher();
  await batcher.configure('A', 1);
  await batcher.setOptions({ batch_window: 5 });
});
afterEach(() => batcher.close());

const QUERY = { state: 'live', limit: 1_000, after_id: '' } as const;
const deps = () => ({ db: batcher.database.db, clock: batcher.clock });
const sessions = () =>
  batcher.database.db.selectFrom('sessions').selectAll().where('actor', '=', 'batcher').orderBy('queue').execute();
const open = async () => (await sessions()).filter(({ stage }) => stage !== 'ended');
const components = async () => {
  const rows = await batcher.database.db.selectFrom('components').selectAll().orderBy('id').execute();
  return rows.map(({ id, state, error_count }) => [id, state.map(({ status }) => status).join(), error_count]);
};
const webhook = (event: string) =>
  batcher.database.db
    .insertInto('webhooks')
    .values({
      name: 'ops',
      url: 'https://hooks.example.test/',
      events: [event] as never,
      enabled: true,
      allow_private_redirects: false,
      created_at: new Date(),
      updated_at: new Date(),
      actor: null,
    })
    .execute();
const told = () => batcher.database.db.selectFrom('notifications').selectAll().orderBy('created_at').execute();

/** Passes each 5 s; sessions that are open end so before each. Answers the instants at which sessions were made. */
async function course(from: number, to: number, reason?: 'repository_not_found'): Promise<number[]> {
  const made: number[] = [];
  for (let at = from; at <= to; at += 5) {
    batcher.now.value = at;
    const [succeeded, code] = reason === undefined ? (['true'] as const) : (['false', reason] as const);
    for (const { name } of await open()) await batcher.end(name, succeeded, code);
    const report = await batcher.pass(at);
    for (let n = 0; n < (report?.sent ?? 0); n += 1) made.push(at);
  }
  return made;
}

test('a thousand components: few sessions while the repository is away, all configured after it, none of them charged', async () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => `n${String(n).padStart(4, '0')}`);
  await batcher.put(...ids.map((id) => ({ id })));
  const made = await course(0, 700, 'repository_not_found');
  // Those that were under way when nobody knew of the fault, then one at a time with growing pauses.
  expect(made.filter((at) => at > 0)).toEqual([35, 100, 225, 470]);
  expect(made.filter((at) => at === 0)).toHaveLength(40);
  expect(await components()).toEqual(ids.map((id) => [id, '', 0]));
  await course(705, 1_000);
  expect(await components()).toEqual(ids.map((id) => [id, 'skipped', 0]));
  expect(await batcher.database.db.selectFrom('batch_holds').selectAll().execute()).toEqual([]);
});

describe('a held key', () => {
  beforeEach(async () => {
    await webhook('batch.held');
    await batcher.put({ id: 'a' }, { id: 'b' });
    expect(await course(0, 15, 'repository_not_found')).toEqual([10]);
  });

  test('says why, and until when: batch, key, batcher, metrics and webhook', async () => {
    batcher.now.value = 16;
    const { batches, batcher: detail } = await listBatches(deps(), QUERY);
    expect(batches).toMatchObject([
      { state: 'open', why_not: 'controller', refusal: 'ended false', components: 2, seconds_left: 29 },
    ]);
    expect(detail).toMatchObject({ waits: { controller: 1 }, held_keys: 1, held_reason: 'ended false' });
    expect(await readBatcher(deps())).toMatchObject({ state: 'working', held_keys: 1, held_reason: 'ended false' });
    expect(await getBatch(deps(), batches[0]?.id ?? '')).toMatchObject({ why_not: 'controller', members: ['a', 'b'] });
    const { keys } = await listBatchKeys(deps(), { after_id: '', limit: 10 });
    expect(keys).toMatchObject([
      {
        key: 'A:0:',
        failures_in_a_row: 0,
        controller: { code: 'repository_not_found', reason: 'ended false', probe: null },
      },
    ]);
    expect(await readGauges(batcher.database.db, batcher.clock())).toMatchObject({ heldKeys: 1, keysInBackOff: 0 });
    const [session] = await sessions();
    expect((await told()).map(({ event, data }) => ({ event, data }))).toEqual([
      {
        event: 'batch.held',
        data: {
          key: 'A:0:',
          configuration: 'A',
          code: 'repository_not_found',
          reason: 'ended false',
          session: session?.name,
        },
      },
    ]);
    const { batches: ended } = await listBatches(deps(), { ...QUERY, state: 'ended' });
    expect(ended).toMatchObject([{ result: 'failure', fault: 'repository_not_found', reason: 'ended false' }]);
  });

  test('is still held while its try is about to go, and while it is out', async () => {
    batcher.now.value = 50;
    const due = await listBatches(deps(), QUERY);
    expect(due.batches).toMatchObject([
      { state: 'open', why_not: 'controller', refusal: 'ended false', seconds_left: 0 },
    ]);
    expect(due.batcher).toMatchObject({ due: 1, waits: {} });
    await batcher.pass(50);
    const out = await listBatches(deps(), QUERY);
    expect(out.batches).toMatchObject([{ state: 'sent', why_not: null, refusal: 'ended false', probe: true }]);
    expect(out.batcher).toMatchObject({ held_keys: 1 });
  });

  test('is not told of again with each try, and again when it goes on and is held anew', async () => {
    await course(20, 100, 'repository_not_found');
    expect(await told()).toHaveLength(1);
    await course(105, 300);
    await batcher.put({ id: 'c' });
    await course(305, 330, 'repository_not_found');
    expect(await told()).toHaveLength(2);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['an option', () => batcher.setOptions({ default_playbook: 'other.yml' })],
    ['the configuration', () => batcher.configure('A', 1, 7)],
    ['a secret', () => retryAfterSecret(batcher.database.db)],
  ])('is tried at once when %s changes, once, and then with the first pause', async (_, change) => {
    await change();
    await batcher.pass(16);
    expect(await open()).toHaveLength(1);
    for (const { name } of await open()) await batcher.end(name, 'false', 'repository_not_found');
    await batcher.pass(17);
    expect(await open()).toEqual([]);
    await batcher.pass(46);
    expect(await open()).toEqual([]);
    await batcher.pass(47);
    expect(await open()).toHaveLength(1);
    expect(await components()).toEqual([
      ['a', '', 0],
      ['b', '', 0],
    ]);
  });

  test('is tried at once when a source that it names changes, and not when another one does', async () => {
    const source = (name: string, url: string) => {
      const record = JSON.stringify({ name, clone_url: url });
      return batcher.database.db
        .insertInto('sources')
        .values({ name, record, updated_at: batcher.clock() } as never)
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ record }))
        .execute();
    };
    const layers = [{ source: 'mine', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    const record = JSON.stringify({ name: 'A', last_updated: '', layers });
    await source('mine', 'https://git.example.test/one.git');
    await batcher.database.db.updateTable('configurations').set({ record }).execute();
    expect(await course(20, 30, 'repository_not_found')).toEqual([20]);
    await source('other', 'https://git.example.test/other.git');
    await batcher.pass(31);
    expect(await open()).toEqual([]);
    await source('mine', 'https://git.example.test/two.git');
    await batcher.pass(32);
    expect(await open()).toHaveLength(1);
  });

  test('holds no other key back', async () => {
    await batcher.configure('B', 1, 3);
    await batcher.put({ id: 'z', configuration: 'B' });
    await batcher.pass(16);
    await batcher.pass(22);
    expect((await open()).map(({ configuration_name }) => configuration_name)).toEqual(['B']);
  });

  test('stays held when its try is deleted, and the next one goes', async () => {
    expect(await course(20, 45, 'repository_not_found')).toEqual([45]);
    const [probe] = await open();
    await batcher.database.db
      .updateTable('sessions')
      .set({ deleted_at: batcher.clock() })
      .where('id', '=', probe?.id ?? '')
      .execute();
    await batcher.database.db.deleteFrom('component_leases').execute();
    await batcher.pass(46);
    const after = await open();
    expect(after.filter(({ deleted_at }) => deleted_at === null)).toHaveLength(1);
    expect(await batcher.database.db.selectFrom('batch_holds').select('length').execute()).toEqual([{ length: 30 }]);
  });

  test('goes on with a host that fails, which is charged as ever', async () => {
    expect(await course(20, 45, 'repository_not_found')).toEqual([45]);
    const [probe] = await open();
    await batcher.end(probe?.name ?? '', 'false', 'session_timeout');
    await batcher.pass(50);
    expect(await batcher.database.db.selectFrom('batch_holds').selectAll().execute()).toEqual([]);
    expect(await components()).toEqual([
      ['a', 'failed', 1],
      ['b', 'failed', 1],
    ]);
  });
});

test('a session that somebody completes while it tries to clone counts as it did', async () => {
  await batcher.put({ id: 'a' });
  await batcher.pass(0);
  await batcher.pass(10);
  const [session] = await open();
  await batcher.database.db
    .updateTable('sessions')
    .set({ stage: 'admitted', status: 'running', reason: 'clone_failed', message: 'clone failed, trying again: away' })
    .execute();
  const patch = { status: { session: { status: 'complete', succeeded: 'false' } } };
  const patching = { ...deps(), dispatcher: { kick: () => undefined } };
  await patchSession(patching, { actor: 'somebody' }, session?.name ?? '', patch);
  await batcher.pass(15);
  expect(await components()).toEqual([['a', 'failed', 1]]);
  expect(await batcher.database.db.selectFrom('batch_holds').selectAll().execute()).toEqual([]);
});

test('a hold of a key that no batch has any more is shown to nobody, and forgotten after a day', async () => {
  await batcher.put({ id: 'a' });
  await course(0, 15, 'repository_not_found');
  await batcher.put({ id: 'a', enabled: false });
  await batcher.pass(20);
  expect(await readBatcher(deps())).toMatchObject({ held_keys: 0, held_reason: null });
  await batcher.pass(86_000);
  expect(await batcher.database.db.selectFrom('batch_holds').selectAll().execute()).toHaveLength(1);
  await batcher.pass(86_500);
  expect(await batcher.database.db.selectFrom('batch_holds').selectAll().execute()).toEqual([]);
});
