/** What a pass does with what changes under its hands, on a real Postgres. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { readPlan } from '../../control/batches/read-plan.ts';
import { runPass } from '../../control/batches/run-pass.ts';
import { takeLeases } from '../../control/components/take-leases.ts';
import { deleteSession } from '../../control/sessions/delete-session.ts';
import { dropStaleMembers } from '../../store/batches/batch-candidates.ts';
import { withPassLock, writePaused } from '../../store/batches/batcher-state.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';
import { openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
beforeEach(async () => {
  batcher = await openRealBatcher();
  await batcher.configure('A', 1);
});
afterEach(() => batcher.close());

const sessions = () =>
  batcher.database.db.selectFrom('sessions').selectAll().where('actor', '=', 'batcher').orderBy('queue').execute();
const limits = async () => (await sessions()).map(({ ansible_limit }) => ansible_limit);
const members = async () => {
  const rows = await batcher.database.db
    .selectFrom('batch_members')
    .select('component_id')
    .orderBy('component_id')
    .execute();
  return rows.map((row) => row.component_id);
};
const set = (id: string, values: object) =>
  batcher.database.db.updateTable('components').set(values).where('id', '=', id).execute();
const component = (id: string) =>
  batcher.database.db.selectFrom('components').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const batches = () =>
  batcher.database.db.selectFrom('batches').selectAll().orderBy('opened_at').orderBy('id').execute();
const passes = async (from: number, to: number) => {
  for (let at = from; at <= to; at += 10) await batcher.pass(at);
};

test('who is disabled, deleted, configured or re-targeted while the batch waits is not configured with the old state', async () => {
  await batcher.configure('B', 1, 7);
  await batcher.put(...['stays', 'disabled', 'deleted', 'reached', 'elsewhere'].map((id) => ({ id })));
  await batcher.pass(10);
  await set('disabled', { enabled: false });
  await batcher.database.db.deleteFrom('components').where('id', '=', 'deleted').execute();
  await batcher.put({ id: 'reached', state: [[0, 'applied']] });
  await set('elsewhere', { desired_config: 'B' });
  await passes(20, 80);
  expect((await sessions()).map((row) => [row.configuration_name, row.ansible_limit])).toEqual([['A', 'stays']]);
  // The one of another configuration waits in a batch of its own since it was seen there.
  await passes(90, 90);
  expect((await sessions()).map((row) => [row.configuration_name, row.ansible_limit])).toEqual([
    ['A', 'stays'],
    ['B', 'elsewhere'],
  ]);
});

test('a configuration that changes while the batch waits is configured as it is at sending, without another window', async () => {
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  await batcher.configure('A', 1, 1);
  await passes(20, 80);
  const [session] = await sessions();
  const { record } = await batcher.database.db
    .selectFrom('configurations')
    .select('record')
    .where('name', '=', 'A')
    .executeTakeFirstOrThrow();
  expect(session?.snapshot.layers.map(({ commit }) => commit)).toEqual(record.layers.map(({ commit }) => commit));
  // What it then reaches counts: it is the state that was sent.
  await batcher.end(session?.name ?? '', 'true');
  await batcher.pass(90);
  expect((await component('a')).state).toMatchObject([{ status: 'skipped', commit: record.layers[0]?.commit }]);
});

test('a configuration that changes after the sending is not said to be reached', async () => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  await batcher.configure('A', 1, 1);
  const [session] = await sessions();
  await batcher.end(session?.name ?? '', 'true');
  await batcher.pass(20);
  expect((await component('a')).state).toEqual([]);
  expect(await limits()).toEqual(['a', 'a']);
});

test('a configuration that is deleted while the batch waits makes no session', async () => {
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  await batcher.database.db.deleteFrom('configurations').execute();
  await passes(20, 100);
  expect(await sessions()).toEqual([]);
  expect(await batches()).toEqual([]);
});

test('a refused create leaves the batch for the next pass, under another name', async () => {
  await batcher.database.db
    .updateTable('configurations')
    .set({
      record: JSON.stringify({
        name: 'A',
        last_updated: '2026-11-21T10:00:00Z',
        layers: [{ clone_url: 'https://git.example.test/one.git', playbook: 'layer0.yml', commit: 'a'.repeat(40) }],
        additional_inventory: { source: 'gone' },
      }),
    })
    .execute();
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  await passes(10, 20);
  expect(await sessions()).toEqual([]);
  expect(await batches()).toMatchObject([{ state: 'open', tries: 2, refusal: 'The source gone does not exist.' }]);
  expect(batcher.warnings).toHaveLength(2);
  await batcher.configure('A', 1);
  await batcher.pass(30);
  expect(await limits()).toEqual(['a']);
  expect(await batches()).toMatchObject([{ state: 'sent', tries: 3, refusal: null }]);
});

test('a name that somebody else has taken is passed over', async () => {
  await batcher.setOptions({ batch_window: 0 });
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  const [batch] = await batches();
  const { batchSessionName } = await import('../../control/batches/batch-session-name.ts');
  await makeSession(batcher.database.db, { name: batchSessionName(batch?.id ?? '', 0), now: batcher.clock() });
  await passes(20, 30);
  expect((await sessions()).map(({ name }) => name)).toEqual([batchSessionName(batch?.id ?? '', 1)]);
});

test('passes at the same moment make each session once', async () => {
  await batcher.setOptions({ batch_size: 5 });
  await batcher.put(...Array.from({ length: 50 }, (_, n) => ({ id: `c${n}` })));
  batcher.now.value = 10;
  const { db } = batcher.database;
  const log = { info: () => undefined, warn: () => undefined };
  const pass = () => runPass({ db, dispatcher: { kick: () => undefined }, clock: batcher.clock, log });
  const reports = await Promise.all([pass(), pass(), pass()]);
  expect(reports.filter((report) => report !== null).length).toBeGreaterThan(0);
  const all = (await limits()).flatMap((limit) => limit?.split(',') ?? []);
  expect(all).toHaveLength(50);
  expect(new Set(all).size).toBe(50);
});

test('a smaller size counts for batches that wait, too', async () => {
  await batcher.setOptions({ batch_size: 10 });
  await batcher.put(...Array.from({ length: 9 }, (_, n) => ({ id: `c${n}` })));
  await batcher.pass(10);
  await batcher.setOptions({ batch_size: 4 });
  await passes(20, 20);
  expect(await limits()).toEqual(['c0,c1,c2,c3', 'c4,c5,c6,c7']);
  await passes(30, 90);
  expect((await limits()).at(-1)).toBe('c8');
  expect(await limits()).toHaveLength(3);
});

test('a lock of a machine that vanished holds the batcher up for some minutes at most', async () => {
  await batcher.setOptions({ batch_window: 0 });
  await batcher.pass(10);
  const { promise: gone, resolve: end } = Promise.withResolvers<void>();
  const { promise: taken, resolve: begin } = Promise.withResolvers<void>();
  const { db } = batcher.database;
  const holding = withPassLock(db, new Date(0), () => {
    begin();
    return gone;
  });
  await taken;
  await batcher.put({ id: 'a' });
  expect(await batcher.pass(190)).toBeNull();
  expect(await batcher.pass(191)).toMatchObject({ joined: 1 });
  expect(await batcher.pass(200)).toBeNull();
  end();
  await holding;
  expect(await batcher.pass(210)).toMatchObject({ sent: 1 });
});

test('a component that another session has is not sent before that one ends', async () => {
  const other = await makeSession(batcher.database.db, { now: batcher.clock() });
  await batcher.put({ id: 'a' }, { id: 'b' });
  await batcher.pass(10);
  await takeLeases(batcher.database.db, { sessionId: other.id, componentIds: ['a'], now: batcher.clock() });
  await passes(20, 80);
  expect(await limits()).toEqual(['b']);
  await passes(90, 200);
  expect(await limits()).toEqual(['b']);
  await batcher.end(other.name, 'true');
  await passes(210, 280);
  expect(await limits()).toEqual(['b', 'a']);
});

test('a session that somebody deletes is a failure that writes nothing', async () => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  const [session] = await sessions();
  const { db } = batcher.database;
  const dispatcher = { kick: () => undefined };
  await deleteSession({ db, dispatcher, clock: batcher.clock }, { actor: 'alice' }, session?.name ?? '');
  await batcher.pass(20);
  expect(await component('a')).toMatchObject({ state: [], error_count: 0 });
  expect((await batches())[0]).toMatchObject({ state: 'ended', result: 'failure', reason: 'its session was deleted' });
});

test('a session that somebody marks as failed while it is at work is a failure that says so', async () => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  const message = 'running layer 1 site.yml';
  await batcher.database.db.updateTable('sessions').set({ status: 'running', succeeded: 'false', message }).execute();
  await batcher.pass(20);
  const reason = 'somebody marked its session succeeded false while it was running';
  expect((await batches())[0]).toMatchObject({ state: 'ended', result: 'failure', reason });
});

test('a failure that Ansible caused is not counted twice', async () => {
  await batcher.setOptions({ batch_size: 2 });
  await batcher.put({ id: 'a' }, { id: 'b' });
  await batcher.pass(10);
  const [session] = await sessions();
  const failed = {
    ...(await layer('A')),
    status: 'failed',
    session_name: session?.name,
    last_updated: '2026-11-21T10:00:00Z',
  };
  await set('a', { state: JSON.stringify([failed]), error_count: 1 });
  await batcher.end(session?.name ?? '', 'false');
  await batcher.pass(20);
  expect(await component('a')).toMatchObject({ error_count: 1 });
  expect(await component('b')).toMatchObject({ state: [], error_count: 0 });
});

async function layer(name: string) {
  const { record } = await batcher.database.db
    .selectFrom('configurations')
    .select('record')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  const { clone_url, playbook, commit } = record.layers[0] ?? {};
  return { clone_url, playbook, commit };
}

test('the limit is never passed: what always fails is tried as often as its policy says', async () => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  for (let at = 10; at < 200; at += 10) {
    await batcher.pass(at);
    for (const { name, status } of await sessions()) if (status !== 'complete') await batcher.end(name, 'false');
  }
  expect(await limits()).toHaveLength(3);
  expect((await component('a')).error_count).toBe(3);
  await set('a', { retry_policy: 4 });
  await passes(200, 210);
  expect(await limits()).toHaveLength(4);
});

test('a host that the inventory did not have is not skipped', async () => {
  await batcher.setOptions({ batch_size: 2 });
  await batcher.put({ id: 'a' }, { id: 'b' });
  await batcher.pass(10);
  const [session] = await sessions();
  await batcher.database.db
    .updateTable('sessions')
    .set({ absent_hosts: ['b'] })
    .where('name', '=', session?.name ?? '')
    .execute();
  await batcher.end(session?.name ?? '', 'true');
  await batcher.pass(20);
  expect(await component('a')).toMatchObject({ state: [{ status: 'skipped' }], error_count: 0 });
  expect(await component('b')).toMatchObject({ state: [{ status: 'failed' }], error_count: 1 });
});

test('a name that no host can have fails, and reaches no limit', async () => {
  await batcher.setOptions({ batch_size: 3 });
  await batcher.put({ id: 'all' }, { id: 'web,db' }, { id: 'good' });
  await batcher.pass(10);
  expect(await limits()).toEqual(['good']);
  expect(await component('all')).toMatchObject({ error_count: 1, state: [{ status: 'failed' }] });
  await passes(20, 280);
  expect(await limits()).toEqual(['good']);
  expect(await component('web,db')).toMatchObject({ error_count: 3 });
});

test('a session that waits for a slot is no failure, however long', async () => {
  await batcher.setOptions({ batch_size: 1, max_running_sessions: 0 });
  await batcher.put({ id: 'a' });
  await passes(10, 1_000);
  expect(await limits()).toEqual(['a']);
  await batcher.setOptions({ max_running_sessions: 1 });
  // From the last instant at which it was seen waiting.
  await passes(1_010, 1_300);
  expect(await limits()).toEqual(['a']);
  await passes(1_310, 1_310);
  expect(await limits()).toEqual(['a', 'a']);
});

test('at most 50 sessions wait for a slot at once', async () => {
  await batcher.setOptions({ batch_size: 1, max_running_sessions: 0 });
  await batcher.put(...Array.from({ length: 60 }, (_, n) => ({ id: `c${n}` })));
  const report = await batcher.pass(10);
  expect(report).toMatchObject({ sent: 50, waits: { queue: 10 } });
  expect(await members()).toHaveLength(60);
});

test.each([
  [
    'the option',
    () => batcher.setOptions({ batcher_disable: true }),
    () => batcher.setOptions({ batcher_disable: false }),
  ],
  [
    'a pause by hand',
    () => writePaused(batcher.database.db, true, 'alice', batcher.clock()),
    () => writePaused(batcher.database.db, false, 'alice', batcher.clock()),
  ],
])('%s stops collecting and sending, not the end of what is out', async (_what, stop, goOn) => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a' });
  await batcher.pass(10);
  await stop();
  await batcher.put({ id: 'b' });
  const [session] = await sessions();
  await batcher.end(session?.name ?? '', 'true');
  await passes(20, 200);
  expect((await component('a')).state).toMatchObject([{ status: 'skipped' }]);
  expect(await limits()).toEqual(['a']);
  await goOn();
  await batcher.pass(210);
  expect(await limits()).toEqual(['a', 'b']);
});

test('a key that failed 20 times in a row is held back alone; a changed configuration clears it', async () => {
  await batcher.configure('good', 1);
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'bad', retries: -1 }, { id: 'good', configuration: 'good', retries: -1 });
  let at = 0;
  const turn = async () => {
    at += 10;
    await batcher.pass(at);
    for (const row of await sessions()) {
      if (row.status !== 'complete') await batcher.end(row.name, row.ansible_limit === 'bad' ? 'false' : 'true');
    }
    // What succeeds always has something to do.
    await set('good', { state: '[]' });
  };
  const bad = async () => (await limits()).filter((limit) => limit === 'bad').length;
  for (let round = 0; round < 60 && (await keyState()) === undefined; round += 1) await turn();
  const held = await bad();
  const good = (await limits()).length - held;
  for (let round = 0; round < 5; round += 1) await turn();
  expect(await bad()).toBe(held);
  expect((await limits()).length - held).toBeGreaterThan(good);
  const { plan } = await readPlan(batcher.database.db, await readOptions(batcher.database.db), batcher.clock());
  expect(plan.waits.map(({ why }) => why)).toContain('key_backoff');
  await batcher.configure('A', 1, 3);
  await turn();
  expect(await bad()).toBe(held + 1);
});

async function keyState() {
  const rows = await batcher.database.db.selectFrom('batch_keys').selectAll().where('backoff_length', '>', 0).execute();
  return rows[0];
}

test('a pass that was broken off between its steps is gone on with', async () => {
  await batcher.setOptions({ batch_size: 1 });
  await batcher.put({ id: 'a', retries: -1 });
  await batcher.pass(10);
  const [session] = await sessions();
  await batcher.end(session?.name ?? '', 'false');
  // Ended, but the back-off was not told.
  const { db } = batcher.database;
  await sql`update batches set state = 'ended', result = 'failure', ended_at = now(), counted = false`.execute(db);
  await db.deleteFrom('batch_members').execute();
  await batcher.pass(20);
  const { results } = await db.selectFrom('batcher_state').select('results').executeTakeFirstOrThrow();
  expect(results.filter((success) => !success)).toHaveLength(1);
  expect(await limits()).toEqual(['a', 'a']);
});

test('members of unsent batches that are no longer their own go, and nobody else does', async () => {
  await batcher.put({ id: 'a' }, { id: 'b' });
  await batcher.pass(10);
  expect(await dropStaleMembers(batcher.database.db, await readOptions(batcher.database.db))).toBe(0);
  await set('a', { error_count: 3 });
  expect(await dropStaleMembers(batcher.database.db, await readOptions(batcher.database.db))).toBe(1);
  expect(await members()).toEqual(['b']);
});
