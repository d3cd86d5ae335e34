/** Who is the canary of a rollout, on a real Postgres, with passes every 10 s. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { resumeRollout } from '../../control/batches/command-rollout.ts';
import { getRollout } from '../../control/batches/read-rollouts.ts';
import type { Canary, RolloutPolicy } from '../../domain/configurations/schema.ts';
import { type GivenComponent, layerOf, openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
let at = 0;
beforeEach(async () => {
  batcher = await openRealBatcher();
  await batcher.setOptions({ batch_size: 4, batch_window: 0 });
  at = 0;
});
afterEach(() => batcher.close());

async function configure(rollout: RolloutPolicy, revision = 0): Promise<void> {
  await batcher.configure('A', 1, revision);
  const layers = [layerOf(0, revision)];
  const record = { name: 'A', last_updated: '2026-11-21T10:00:00Z', layers, muster: { rollout } };
  await batcher.database.db
    .updateTable('configurations')
    .set({ record: JSON.stringify(record) })
    .execute();
}

/** A fleet under a policy with these canaries, after enough passes that its first sessions are there. */
async function fleet(canary: Canary, components: GivenComponent[]): Promise<void> {
  await configure({ canary });
  await batcher.put(...components);
  await passes(4);
}

async function passes(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    at += 10;
    await batcher.pass(at);
  }
}

const rows = () =>
  batcher.database.db.selectFrom('sessions').select(['name', 'ansible_limit', 'stage']).orderBy('queue').execute();
/** The hosts of all sessions that have not ended. */
const out = async () =>
  (await rows())
    .filter(({ stage }) => stage !== 'ended')
    .flatMap(({ ansible_limit }) => (ansible_limit ?? '').split(','))
    .sort();
async function endAll(succeeded: 'true' | 'false'): Promise<void> {
  for (const { name, stage } of await rows()) if (stage !== 'ended') await batcher.end(name, succeeded);
}
const rollout = () => getRollout(batcher.database.db, 'A');
const set = (id: string, values: object) =>
  batcher.database.db.updateTable('components').set(values).where('id', '=', id).execute();
const sound = (...ids: string[]): GivenComponent[] => ids.map((id) => ({ id }));
const FAILED: [number, 'failed'][] = [[0, 'failed']];

describe('by number', () => {
  test('a component with errors, and one that failed last, is none; the rollout goes on to them afterwards', async () => {
    await fleet(2, [{ id: 'a', errors: 1 }, { id: 'b', state: FAILED }, ...sound('c', 'd', 'e')]);
    expect(await out()).toEqual(['c', 'd']);
    expect(await rollout()).toMatchObject({ state: 'canary', reason: null, canaries: ['c', 'd'] });
    await endAll('true');
    await passes(4);
    expect(await rollout()).toMatchObject({ state: 'rolling', canaries: ['c', 'd'] });
    expect(await out()).toEqual(['a', 'b', 'e']);
  });

  test('it waits and says so while there are too few, and goes on when there are enough', async () => {
    await fleet(2, [{ id: 'a', errors: 1 }, { id: 'b', errors: 2 }, ...sound('c')]);
    expect(await out()).toEqual(['c']);
    const reason = 'waits: 2 canaries are needed, 1 can be (a component that has errors or failed last is none)';
    expect(await rollout()).toMatchObject({ state: 'canary', reason });
    await endAll('true');
    await passes(4);
    expect(await rollout()).toMatchObject({ state: 'canary', reason, done: 1 });
    expect(await out()).toEqual([]);
    await set('b', { error_count: 0 });
    await passes(4);
    expect(await out()).toEqual(['b']);
    expect(await rollout()).toMatchObject({ state: 'canary', reason: null, canaries: ['b', 'c'] });
  });

  test('one that gets errors while its batch waits is exchanged', async () => {
    await batcher.setOptions({ batch_window: 25, batch_size: 9 });
    await configure({ canary: 3 });
    await batcher.put(...sound('a', 'b'));
    await passes(1);
    expect(await out()).toEqual([]);
    await set('a', { error_count: 1 });
    await batcher.put(...sound('c', 'd'));
    await passes(8);
    expect(await out()).toEqual(['b', 'c', 'd']);
  });
});

describe.each<[string, Canary]>([
  ['ids', { ids: ['d'] }],
  ['ids and a count', { count: 1, ids: ['d', 'x'] }],
  ['tags', { tags: { stage: 'first-1', more: '' } }],
  ['tags and a count', { count: 1, tags: { stage: 'first-1' } }],
  ['group', { group: 'stage_first_1' }],
  ['group and a count', { count: 1, group: 'stage_first_1' }],
])('by %s', (_, canary) => {
  const D: GivenComponent = { id: 'd', tags: { stage: 'first-1', more: '' } };

  test('it comes first and alone, then the others', async () => {
    await fleet(canary, [...sound('a', 'b', 'c'), D]);
    expect(await out()).toEqual(['d']);
    expect(await rollout()).toMatchObject({ state: 'canary', reason: null });
    expect((await rollout()).canaries).toContain('d');
    await endAll('true');
    await passes(4);
    expect(await out()).toEqual(['a', 'b', 'c']);
    expect((await rollout()).canaries).toContain('d');
  });

  test('one that is disabled, or deleted, is waited for; nothing else goes', async () => {
    await fleet(canary, [...sound('a', 'b'), { ...D, enabled: false }]);
    expect(await out()).toEqual([]);
    expect(await rollout()).toMatchObject({
      state: 'canary',
      reason: expect.stringMatching(/^waits: 1 canary is needed, 0/),
    });
    await batcher.database.db.deleteFrom('components').where('id', '=', 'd').execute();
    await passes(2);
    expect(await rollout()).toMatchObject({
      state: 'canary',
      reason: expect.stringMatching(/^waits: 1 canary is needed, 0/),
    });
    await batcher.put(D);
    await passes(4);
    expect(await out()).toEqual(['d']);
  });

  test('one that is configured already has done its part', async () => {
    await fleet(canary, [...sound('a', 'b'), { ...D, state: [[0, 'applied']] }]);
    expect(await rollout()).toMatchObject({ state: 'rolling' });
    expect(await out()).toEqual(['a', 'b']);
  });

  test('its failure stops the rollout', async () => {
    await fleet(canary, [...sound('a', 'b'), D]);
    await endAll('false');
    await passes(2);
    expect(await rollout()).toMatchObject({ state: 'stopped', reason: '1 component of the canary failed' });
    expect(await out()).toEqual([]);
  });
});

test('one with errors is a canary where its id is named, and not where a tag chooses it', async () => {
  const given = [...sound('a'), { id: 'd', errors: 2, state: FAILED, tags: { stage: 'first' } }];
  await fleet({ tags: { stage: 'first' } }, given);
  expect(await out()).toEqual([]);
  await configure({ canary: { ids: ['d'] } });
  await passes(4);
  expect(await out()).toEqual(['d']);
});

test('a stopped canary by tag that is resumed waits until its errors are gone; one that is named is tried again', async () => {
  await fleet({ tags: { stage: 'first' } }, [...sound('a'), { id: 'd', tags: { stage: 'first' } }]);
  await endAll('false');
  await passes(2);
  await resumeRollout({ db: batcher.database.db, clock: batcher.clock }, { actor: 'ops' }, 'A');
  await passes(3);
  expect(await out()).toEqual([]);
  expect(await rollout()).toMatchObject({ state: 'canary', reason: expect.stringContaining('waits: ') });
  await configure({ canary: { ids: ['d'] } });
  await passes(3);
  expect(await out()).toEqual(['d']);
});

test('a batch from before the policy keeps its canaries alone', async () => {
  await batcher.setOptions({ batch_window: 600, batch_size: 9 });
  await batcher.configure('A', 1);
  await batcher.put(...sound('a', 'b', 'c'));
  await passes(1);
  await configure({ canary: { ids: ['c'] } });
  await passes(3);
  expect(await out()).toEqual(['c']);
});

test('of many that a tag chooses as many go as the policy says, and all without a number', async () => {
  const given = Array.from(
    { length: 9 },
    (_, n): GivenComponent => ({ id: `n${n}`, tags: n < 6 ? { stage: 'first' } : {} }),
  );
  await fleet({ count: 2, tags: { stage: 'first' } }, given);
  expect(await out()).toEqual(['n0', 'n1']);
  await endAll('true');
  await passes(1);
  await batcher.database.db.deleteFrom('rollouts').execute();
  await configure({ canary: { tags: { stage: 'first' } } }, 1);
  await passes(4);
  expect(await out()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5']);
});
