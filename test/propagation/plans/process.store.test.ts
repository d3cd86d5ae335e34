/** What process refuses, freezes and leaves behind. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { previewChanges, processChanges } from '../../../control/propagation/process-changes.ts';
import { removeResource } from '../../../control/propagation/remove-resource.ts';
import { tagResource } from '../../../control/propagation/tag-resource.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });

describe('process', () => {
  test('refuses an empty selection, and the items of a plan that is open', async () => {
    await expect(plans.process()).rejects.toEqual(refusal('nothing_staged'));
    await plans.create('a');
    await expect(plans.process({ tags: ['nobody'] })).rejects.toEqual(refusal('nothing_staged'));
    const { id } = await plans.process();
    await expect(plans.process()).rejects.toEqual(refusal('item_in_plan', id));
    await expect(plans.process({ tags: ['a b'] })).rejects.toEqual(refusal('tag_syntax'));
  });

  test('makes different plans of different tags', async () => {
    await plans.create('a', 'b');
    await tagResource(plans.deps, 'a', { add: ['site=x'] });
    const [first, second] = [await plans.process({ tags: ['site=x'] }), await plans.process({ tags: ['name=b'] })];
    expect([first.order, second.order]).toEqual([['a.run'], ['b.run']]);
  });

  test('gives an item to one of many that ask at once', async () => {
    await plans.create('a', 'b', 'c');
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => plans.process()));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of all) if (one.status === 'rejected') expect(one.reason).toEqual(refusal('item_in_plan'));
  });

  test('as a preview leaves nothing behind, not even what it has staged', async () => {
    await plans.create('a', 'b');
    await plans.connect('a', 'b', ['v'], 'none');
    await plans.commitAll();
    await plans.set('a', { v: 'two' });
    const { order } = await previewChanges(plans.deps, {});
    expect([...order].sort()).toEqual(['a.update', 'b.update']);
    const left = await plans.db.selectFrom('propagation_staged_items').select(['resource', 'plan']).execute();
    expect(left).toEqual([{ resource: 'a', plan: null }]);
    expect(await plans.db.selectFrom('propagation_plans').selectAll().execute()).toEqual([]);
  });

  test('refuses values that do not fit and a place that is none; only the values can be forced', async () => {
    await createResource(plans.deps, { name: 'n', from: 'muster/node' });
    await expect(plans.process()).rejects.toEqual(refusal('validation_failed', 'ip'));
    await expect(plans.process({ force: true })).resolves.toMatchObject({ order: ['n.run'] });
    await createResource(plans.deps, { name: 'w', from: 'worked' });
    const empty = expect.objectContaining({ code: 'validation_failed', field: 'location_id' });
    await expect(plans.process({ tags: ['name=w'], force: true })).rejects.toEqual(empty);
  });

  test('finds the address of a node, and the place of a component', async () => {
    await createResource(plans.deps, { name: 'n', from: 'muster/node', inputs: { ip: '10.0.0.1' } });
    const transport = { user: 'root', port: 2222 };
    await createResource(plans.deps, { name: 't', from: 'muster/transport_ssh', inputs: transport });
    await plans.work(['w'], 'worked', () => '');
    await plans.connect('t', 'n', []);
    await plans.connect('n', 'w', []);
    await plans.work(['c']);
    const { id } = await plans.process();
    const targets = Object.fromEntries((await plans.nodes(id)).map(({ resource, target }) => [resource, target]));
    expect(targets).toMatchObject({ w: '10.0.0.1:2222', c: 'component:c' });
  });

  test('refuses what workers in a cluster do not execute, by handler and node', async () => {
    await plans.work(['w']);
    const inCluster = { ...plans.deps, runner: 'kubernetes' as const };
    await expect(processChanges(inCluster, {})).rejects.toEqual(
      refusal('not_supported', 'ansible_playbook of node w.run'),
    );
  });

  test('freezes inputs and differences: what is edited later waits for the next plan', async () => {
    await plans.create('a');
    const first = await plans.process();
    await plans.set('a', { v: 'later' });
    await plans.run(first.id);
    const committed = await plans.db.selectFrom('propagation_committed').selectAll().execute();
    expect(committed).toMatchObject([{ resource: 'a', state: 'operational', inputs: { v: 'own' } }]);
    expect(await plans.staged()).toEqual(['a.update']);
    expect((await plans.get('a')).state).toBe('updated');
    const second = await plans.process();
    expect((await plans.run(second.id)).state).toBe('succeeded');
    expect(await plans.staged()).toEqual([]);
    expect((await plans.get('a')).state).toBe('operational');
  });

  test('stores equal values once', async () => {
    await plans.create('a', 'b', 'c');
    const { id } = await plans.process();
    expect(new Set((await plans.nodes(id)).map(({ inputs }) => inputs)).size).toBe(1);
    expect(await plans.db.selectFrom('propagation_frozen').selectAll().execute()).toHaveLength(1);
  });
});

describe('an emitter that is removed', () => {
  test('lets its receivers run again without it, in the same plan', async () => {
    await plans.create('a', 'b');
    await plans.set('a', { v: 'from a' });
    await plans.connect('a', 'b', ['v']);
    await plans.commitAll();
    await removeResource(plans.deps, 'a', false);
    const { id, order } = await plans.process();
    expect(order).toEqual(['a.remove', 'b.run']);
    const items = await plans.db.selectFrom('propagation_plan_items').selectAll().where('plan', '=', id).execute();
    expect(items.map(({ base, is_implied }) => [base, is_implied]).sort()).toEqual([
      ['a.remove', false],
      ['b.run', true],
    ]);
    const { state, follow_up } = await plans.run(id);
    expect([state, follow_up]).toEqual(['succeeded', []]);
    expect(await plans.staged()).toEqual([]);
    expect((await plans.get('b')).committed).toMatchObject({ inputs: { v: 'own' }, connections: [] });
    await expect(plans.get('a')).rejects.toEqual(refusal('resource_not_found'));
  });

  test('stages the receivers that the plan does not settle, and names them', async () => {
    await plans.create('a', 'b');
    await plans.set('a', { v: 'from a' });
    await plans.connect('a', 'b', ['v'], 'none');
    await plans.commitAll();
    await removeResource(plans.deps, 'a', false);
    const { id } = await plans.process();
    expect((await plans.run(id)).follow_up).toEqual(['b']);
    expect(await plans.staged()).toEqual(['b.update']);
  });
});
