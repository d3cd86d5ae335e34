/** Staging, discarding and removing on a real Postgres. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { discardChanges } from '../../../control/propagation/discard-changes.ts';
import { disconnectPair } from '../../../control/propagation/disconnect.ts';
import { getItem, pageOfItems } from '../../../control/propagation/read-resources.ts';
import { removeResource } from '../../../control/propagation/remove-resource.ts';
import { tagResource } from '../../../control/propagation/tag-resource.ts';
import { type ModelBench, openModel } from './model-bench.ts';

let model: ModelBench;
beforeEach(async () => {
  model = await openModel();
});
afterEach(() => model.close());

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });
const remove = (name: string, force = false) => removeResource(model.deps, name, force);
const stateOf = async (name: string) => (await model.get(name)).state;

describe('staging', () => {
  test('puts two connected resources in the log, with what they get', async () => {
    await model.create('a', 'b');
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', ['v']);
    expect(await model.staged()).toEqual(['a.run', 'b.run']);
    const { records: rows } = await pageOfItems(model.db, '', 10);
    expect(rows[1]).toMatchObject({
      log_action: 'b.run',
      base_path: 'resources/part/1.0.0',
      state: 'staged',
      plan: null,
    });
    expect(rows[1]?.details).toContain('++ v: one');
    expect(rows[1]?.connections_diff).toEqual([['change', [], [[], [['a', 'v', 'b', 'v']]]]]);
  });

  test('twice leaves the same items, and nothing after a commit', async () => {
    await model.create('a', 'b');
    await model.connect('a', 'b', ['v']);
    const [first, second] = [await model.items(), await model.items()];
    expect(second).toEqual(first);
    await model.commitAll();
    expect(await model.staged()).toEqual([]);
  });

  test('adds receivers over any number of steps, and only those that differ', async () => {
    await model.create('a', 'b', 'c', 'd', 'e');
    await model.connect('a', 'b', ['v']);
    await model.connect('b', 'c', { v: 'env:V' });
    await model.connect('a', 'd', ['w']);
    await model.commitAll();
    await model.set('a', { v: 'two' });
    expect(await model.staged()).toEqual(['a.update', 'b.update', 'c.update']);
    expect((await pageOfItems(model.db, '', 10)).records[2]?.details).toEqual(['-+ env:[V] : own >> two']);
    expect(await stateOf('a')).toBe('updated');
    await model.set('a', { v: 'own' });
    expect(await model.staged()).toEqual([]);
    expect(await stateOf('a')).toBe('operational');
  });

  test('stages what was disconnected, with the value that comes back', async () => {
    await model.create('a', 'b');
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', ['v']);
    await model.commitAll();
    await disconnectPair(model.deps, { emitter: 'a', receiver: 'b', inputs: ['v'] }, false);
    expect(await model.staged()).toEqual(['b.update']);
    const [item] = (await pageOfItems(model.db, '', 1)).records;
    expect(item?.details).toEqual(['-+ v: one >> own', expect.stringContaining('[["a","v","b","v"]] >> []')]);
    expect((await getItem(model.db, item?.uid ?? '')).log_action).toBe('b.update');
  });

  test('keeps what was asked for by name or by tag, without a difference', async () => {
    await model.create('a', 'b', 'c');
    await model.commitAll();
    await tagResource(model.deps, 'b', { add: ['site=x', 'blue'] });
    expect(await model.staged({ names: ['a'], action: 'reload' })).toEqual(['a.reload']);
    expect(await model.staged({ tags: ['site=*&blue'] })).toEqual(['a.reload', 'b.update']);
    expect(await model.staged({ tags: ['nothing'] })).toEqual(['a.reload', 'b.update']);
    expect(await model.staged()).toEqual(['a.reload', 'b.update']);
    expect(await stateOf('b')).toBe('operational');
    expect((await model.items()).find(({ resource }) => resource === 'b')?.tags).toContain('site=x');
    await tagResource(model.deps, 'b', { remove: ['blue'], add: ['red'] });
    expect((await model.items()).find(({ resource }) => resource === 'b')?.tags).toEqual([
      'name=b',
      'red=',
      'resource=part',
      'site=x',
    ]);
  });

  test('asks for run where a resource was never committed, and refuses what is not there', async () => {
    await model.create('a');
    expect(await model.staged({ names: ['a'] })).toEqual(['a.run']);
    await expect(model.staged({ names: ['a'], action: 'fly' })).rejects.toEqual(refusal('action_not_defined'));
    await expect(model.staged({ names: ['nobody'] })).rejects.toEqual(refusal('unknown_resource'));
    await expect(model.staged({ tags: ['a b'] })).rejects.toEqual(refusal('tag_syntax', 'column 2'));
    await expect(model.staged({ action: 'run' })).rejects.toEqual(refusal('validation_failed'));
  });

  test('leaves an item in an open plan as it is', async () => {
    await model.create('a');
    await model.items();
    await sql`update propagation_staged_items set plan = gen_random_uuid()`.execute(model.db);
    const [before] = await model.items();
    await model.set('a', { v: 'later' });
    expect(await model.items()).toEqual([before]);
    await expect(model.discardAll()).rejects.toEqual(refusal('item_in_plan', before?.plan ?? 'x'));
    await expect(remove('a')).rejects.toEqual(refusal('item_in_plan'));
    await expect(remove('a', true)).rejects.toEqual(refusal('item_in_plan'));
  });

  test('is one after the other, whoever edits meanwhile', async () => {
    await model.create('a', 'b', 'c');
    await model.connect('a', 'b', ['v']);
    await model.commitAll();
    const edits = Array.from({ length: 8 }, (_, index) => model.set('a', { v: `v${index}` }));
    const stagings = Array.from({ length: 8 }, () => model.items());
    await Promise.all([...edits, ...stagings]);
    expect(await model.staged()).toEqual(['a.update', 'b.update']);
    const { records: rows } = await pageOfItems(model.db, '', 10);
    const value = await model.value('a', 'v');
    expect(rows.map(({ details }) => details)).toEqual([[`-+ v: own >> ${value}`], [`-+ v: own >> ${value}`]]);
  });
});

describe('discarding', () => {
  test('an update puts inputs and connections back', async () => {
    await model.create('a', 'b', 'c');
    await model.connect('a', 'b', { v: ['v', 'env:V'] });
    await model.commitAll();
    const before = await model.get('b');
    const events = await model.events();
    await model.set('b', { w: 'other', env: { own: '2', V: 'hidden' } });
    await disconnectPair(model.deps, { emitter: 'a', receiver: 'b', inputs: ['v'] }, false);
    await model.connect('c', 'b', { w: 'list' });
    await model.items();
    await model.discardAll();
    const after = await model.get('b');
    expect(after.resolved).toEqual(before.resolved);
    expect(after.sources.map(({ id: _id, ...one }) => one)).toEqual(before.sources.map(({ id: _id, ...one }) => one));
    expect([after.state, await model.staged(), await model.events()]).toEqual(['operational', [], events]);
  });

  test('a connection that comes back has the events of the installation', async () => {
    await model.create('a', 'b');
    await model.connect('a', 'b', ['v'], 'none');
    await model.commitAll();
    await disconnectPair(model.deps, { emitter: 'a', receiver: 'b' }, false);
    await model.items();
    await discardChanges({ ...model.deps, eventPolicy: 'none' }, 'all');
    expect([(await model.get('b')).sources.length, await model.events()]).toEqual([1, []]);
  });

  test('a removal brings the state back that was there before, with what was staged', async () => {
    await model.create('a', 'b');
    await model.commitAll();
    await model.set('b', { v: 'two' });
    for (const name of ['a', 'b']) expect(await remove(name)).toBe('staged');
    expect([await stateOf('a'), await stateOf('b'), await model.staged()]).toEqual([
      'removed',
      'removed',
      ['a.remove', 'b.remove'],
    ]);
    await model.discardAll();
    expect([await stateOf('a'), await stateOf('b'), await model.staged()]).toEqual([
      'operational',
      'updated',
      ['b.update'],
    ]);
  });

  test('the first run deletes the resource, and its receivers have their own values again', async () => {
    await model.create('b');
    await model.commitAll();
    await model.create('a');
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', ['v']);
    const run = (await model.items()).find(({ action }) => action === 'run');
    await discardChanges(model.deps, [run?.uid ?? '']);
    await expect(model.get('a')).rejects.toEqual(refusal('resource_not_found'));
    expect([await model.value('b', 'v'), await model.staged(), await model.events(), await stateOf('b')]).toEqual([
      'own',
      [],
      [],
      'operational',
    ]);
  });

  test('another action drops the item alone', async () => {
    await model.create('a');
    await model.commitAll();
    const [item] = (await model.staged({ names: ['a'], action: 'reload' })) && (await model.items());
    expect(await discardChanges(model.deps, [item?.uid ?? ''])).toHaveLength(1);
    expect([await model.staged(), await stateOf('a')]).toEqual([[], 'operational']);
    await expect(discardChanges(model.deps, [item?.uid ?? ''])).rejects.toEqual(refusal('change_not_found'));
    await expect(discardChanges(model.deps, ['x'])).rejects.toEqual(refusal('change_not_found'));
  });
});

describe('removing', () => {
  test('a resource that was never committed deletes it at once', async () => {
    await model.create('a', 'b');
    await model.connect('a', 'b', ['v']);
    expect(await remove('a')).toBe('deleted');
    expect([await model.staged(), await model.events()]).toEqual([['b.run'], []]);
    await expect(remove('a')).rejects.toEqual(refusal('resource_not_found'));
  });

  test('by force deletes a committed resource, and one of its name is new', async () => {
    await model.create('a', 'b');
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', ['v']);
    await model.commitAll();
    expect(await remove('a', true)).toBe('deleted');
    expect(await model.staged()).toEqual(['b.update']);
    await model.create('a');
    expect(await model.staged()).toEqual(['b.update', 'a.run']);
  });

  test('marks a committed resource, which supplies its values until then and takes no edit', async () => {
    await model.create('a', 'b');
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', ['v']);
    await model.commitAll();
    await model.set('a', { v: 'two' });
    expect(await remove('a')).toBe('staged');
    expect(await remove('a')).toBe('staged');
    // The edit before the removal reaches the receiver all the same.
    expect(await model.staged()).toEqual(['a.remove', 'b.update']);
    const [item] = (await pageOfItems(model.db, '', 1)).records;
    expect(item?.details).toContain('-- v: one');
    await expect(model.set('a', { v: 'x' })).rejects.toEqual(refusal('validation_failed', 'marked for removal'));
    await expect(model.connect('b', 'a', ['w'])).rejects.toEqual(refusal('validation_failed'));
    await expect(model.staged({ names: ['a'], action: 'reload' })).rejects.toEqual(refusal('validation_failed'));
    expect(await model.staged({ tags: ['name=a'], action: 'reload' })).toEqual(['a.remove', 'b.update']);
  });
});

describe('the audit', () => {
  test('has what users did, and not what followed from it', async () => {
    await sql`truncate audit`.execute(model.db);
    await model.create('a', 'b');
    await model.connect('a', 'b', ['v'], 'none');
    await model.items();
    await model.staged({ names: ['a'], action: 'reload' });
    await discardChanges(
      model.deps,
      (await model.items()).filter(({ action }) => action === 'reload').map(({ uid }) => uid),
    );
    await remove('b');
    const rows = await model.db.selectFrom('audit').select(['actor', 'action', 'kind', 'name']).orderBy('id').execute();
    expect(rows.map(({ actor, action, kind, name }) => [actor, action, kind, name])).toEqual([
      ['ann', 'create', 'resource', 'a'],
      ['ann', 'create', 'resource', 'b'],
      ['ann', 'create', 'connection', 'a::v -> b::v'],
      ['ann', 'stage', 'change', 'a.reload'],
      ['ann', 'discard', 'change', 'a.reload'],
      [null, 'delete', 'connection', 'a::v -> b::v'],
      [null, 'delete', 'resource', 'b'],
    ]);
  });
});

describe('at size', () => {
  test('of 10,000 resources one changed source with 100 dependants is staged by its receivers alone', async () => {
    await createResource(model.deps, { name: 'source', from: 'part' });
    await sql`
      insert into propagation_resources (name, repository, definition, version, hash, handler, actions, meta_inputs, inputs, tags, state, created_at, updated_at)
      select 'n' || n, repository, definition, version, hash, handler, actions, meta_inputs, inputs, tags, state, created_at, updated_at
      from propagation_resources, generate_series(1, 10000) n where name = 'source'`.execute(model.db);
    await sql`
      insert into propagation_connections (id, emitter, emitter_input, receiver, receiver_input, policy, created_at)
      select gen_random_uuid(), case when n <= 100 then 'source' else 'n' || (n - 1) end, 'v', 'n' || n, 'v', 'none', now()
      from generate_series(1, 9999) n where n <= 100 or n > 200`.execute(model.db);
    await sql`
      insert into propagation_committed (resource, inputs, connections, tags, base_path, state, updated_at)
      select r.name, r.inputs, coalesce((select jsonb_agg(jsonb_build_array(emitter, 'v', receiver, 'v')) from propagation_connections where receiver = r.name), '[]'),
        r.tags, 'resources/part/1.0.0', 'operational', now() from propagation_resources r`.execute(model.db);
    await sql`update propagation_resources set state = 'operational'`.execute(model.db);
    await sql`delete from propagation_staged_items`.execute(model.db);
    await model.set('source', { v: 'new' });
    const begun = performance.now();
    const staged = await model.staged();
    expect(staged).toHaveLength(101);
    expect(performance.now() - begun).toBeLessThan(10_000);
    const before = performance.now();
    expect(await model.value('n9999', 'v')).toBe('own');
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});
