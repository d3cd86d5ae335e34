/** Connections on a real Postgres: values along them, cycles, races, and the events that they make. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { removeEvent, removeEvents } from '../../../control/propagation/add-events.ts';
import { connect } from '../../../control/propagation/connect.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { disconnect, disconnectPair } from '../../../control/propagation/disconnect.ts';
import { type ModelBench, openModel } from './model-bench.ts';

let model: ModelBench;
beforeEach(async () => {
  model = await openModel();
  await model.create('a', 'b', 'c');
});
afterEach(() => model.close());

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });

describe('a connection', () => {
  test('hands the value on at once, and brings the own value back when it goes', async () => {
    await model.set('a', { v: 'one' });
    await model.connect('a', 'b', { v: 'w' });
    const { connections } = await model.connect('b', 'c', { w: ['v', 'env:W'] });
    expect([await model.value('b', 'w'), await model.value('c', 'v')]).toEqual(['one', 'one']);
    expect(await model.value('c', 'env')).toEqual({ own: '1', W: 'one' });
    await model.set('a', { v: 'two' });
    expect(await model.value('c', 'v')).toBe('two');
    await disconnect(model.deps, connections.find(({ receiver_input }) => receiver_input === 'v')?.id ?? '', false);
    expect([await model.value('c', 'v'), await model.value('b', 'w')]).toEqual(['own', 'two']);
  });

  test('to a list keeps the order in which they were made; to a value the last stays', async () => {
    for (const name of ['a', 'b']) await model.set(name, { v: name });
    await model.connect('b', 'c', { v: 'list' });
    await model.connect('a', 'c', { v: 'list' });
    expect(await model.value('c', 'list')).toEqual(['b', 'a']);
    await model.connect('a', 'c', ['v']);
    await model.connect('b', 'c', ['v']);
    expect((await model.get('c')).sources.filter(({ receiver_input }) => receiver_input === 'v')).toMatchObject([
      { emitter: 'b' },
    ]);
  });

  test('made twice is one connection and stages nothing the second time', async () => {
    const first = await model.connect('a', 'b', ['v']);
    await model.commitAll();
    const again = await model.connect('a', 'b', ['v']);
    expect(again.connections.map(({ id }) => id)).toEqual(first.connections.map(({ id }) => id));
    expect(await model.staged()).toEqual([]);
    expect((await model.get('b')).state).toBe('operational');
  });

  test('takes place and transport along where the emitter has them and the receiver has none', async () => {
    await createResource(model.deps, { name: 'n', from: 'node', inputs: { ip: '10.0.0.1' } });
    await createResource(model.deps, { name: 't', from: 'transport_ssh', inputs: { user: 'root' } });
    await model.connect('t', 'n', []);
    await model.connect('n', 'a', []);
    const [node, transport, resource] = [await model.get('n'), await model.get('t'), await model.get('a')];
    expect(node.resolved.transports_id).toBe(transport.inputs.transports_id);
    expect(resource.resolved).toMatchObject({
      location_id: node.inputs.location_id,
      transports_id: transport.inputs.transports_id,
    });
    // The other way round there is nothing to take along, and no error.
    await model.connect('a', 'n', { v: 'name' });
    expect((await model.get('n')).sources.map(({ emitter_input }) => emitter_input).sort()).toEqual([
      'transports_id',
      'v',
    ]);
  });

  test.each([
    ['self_connection', 'a', 'a', ['v']],
    ['input_unknown', 'a', 'b', ['nothing']],
    ['input_unknown', 'a', 'b', { v: 'toString' }],
    ['unknown_resource', 'a', 'nobody', ['v']],
    ['unknown_resource', 'nobody', 'b', ['v']],
    ['validation_failed', 'a', 'b', { v: 'env' }],
    ['validation_failed', 'a', 'b', { v: 'v:key' }],
    ['not_supported', 'a', 'b', { v: 'hosts' }],
    ['not_supported', 'a', 'b', { v: 'env:key|tag' }],
    ['secret_by_reference', 'a', 'b', { key: 'v' }],
    ['secret_by_reference', 'a', 'b', { v: 'key' }],
  ])('is refused with %s from %s to %s by %j, and nothing changes', async (code, from, to, mapping) => {
    await expect(model.connect(from, to, mapping)).rejects.toEqual(refusal(code));
    expect(await model.db.selectFrom('propagation_connections').selectAll().execute()).toEqual([]);
    expect(await model.events()).toEqual([]);
  });

  test('hands on the reference of a secret, and never its value', async () => {
    const reference = { secret: 'propagation-db', key: 'password' };
    await model.set('a', { key: reference });
    await model.connect('a', 'b', ['key']);
    expect(await model.value('b', 'key')).toEqual(reference);
  });

  test('is kept in the input: its value cannot be set', async () => {
    await model.connect('a', 'b', { v: ['v', 'env:V'] });
    await expect(model.set('b', { v: 'x' })).rejects.toEqual(refusal('input_connected', 'a::v'));
    await model.set('b', { w: 'x', env: { more: 1, V: 'hidden' } });
    expect(await model.value('b', 'env')).toEqual({ more: 1, V: 'own' });
  });
});

test('that joins 200 values in one list reads no other values for it', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `m${index}`);
  await model.create(...names);
  for (const name of names) await model.connect(name, 'c', { v: 'list' }, 'none');
  expect(await model.value('c', 'list')).toHaveLength(200);
});

describe('a cycle', () => {
  test('of inputs is refused with its path, also where place would close it by itself', async () => {
    await model.connect('a', 'b', ['v']);
    await model.connect('b', 'c', ['v']);
    await expect(model.connect('c', 'a', ['v'])).rejects.toMatchObject({
      code: 'input_cycle',
      errors: [{ code: 'input_cycle', names: ['a::v', 'b::v', 'c::v', 'a::v'] }],
    });
    await model.connect('c', 'a', { v: 'w' });
  });

  test('is not closed by many that connect at once', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `r${index}`);
    await model.create(...names);
    const ring = names.map((name, index) => model.connect(name, names[(index + 1) % names.length] ?? '', ['v']));
    const results = await Promise.allSettled(ring);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const one of results) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'input_cycle' });
    for (const name of names) expect(await model.value(name, 'v')).toBe('own');
  });

  test('of resources through different inputs is none', async () => {
    await model.connect('a', 'b', { v: 'list' });
    await model.connect('b', 'a', { v: 'w' });
    expect(await model.value('a', 'w')).toBe('own');
  });
});

describe('events of a connection', () => {
  const FULL = [
    'after a.run success b.run',
    'after a.update success b.update',
    'after b.remove success a.remove',
    'on a.remove changed b.run',
    'on a.run changed b.reload',
  ];

  test.each([
    [undefined, FULL],
    ['dependency', FULL.slice(0, 3)],
    ['reaction', FULL.slice(3)],
    ['none', []],
    [['on a.run failed b.reload'], ['on a.run failed b.reload']],
  ] as const)('are those of policy %j', async (policy, expected) => {
    await model.connect('a', 'b', ['v'], policy);
    await model.connect('a', 'b', ['v'], policy);
    expect(await model.events()).toEqual([...expected]);
  });

  test('are those of the installation where the connection does not say', async () => {
    const deps = { ...model.deps, eventPolicy: 'dependency' as const };
    await connect(deps, { emitter: 'a', receiver: 'b', mapping: ['v'] });
    expect(await model.events()).toEqual(FULL.slice(0, 3));
    await connect(deps, { emitter: 'a', receiver: 'b', mapping: ['v'], events: 'full' });
    expect(await model.events()).toEqual(FULL);
  });

  test('are none within a resource', async () => {
    await model.connect('a', 'a', { v: 'w' });
    expect(await model.events()).toEqual([]);
  });

  test('go with the last connection of the pair, those of users stay', async () => {
    await model.addEvents('after a.run success b.run');
    const one = await model.connect('a', 'b', ['v']);
    const other = await model.connect('a', 'b', ['w']);
    await model.connect('b', 'a', { list: 'list' });
    await disconnect(model.deps, one.connections[0]?.id ?? '', false);
    expect((await model.events()).filter((text) => FULL.includes(text))).toEqual(FULL);
    await disconnect(model.deps, other.connections[0]?.id ?? '', false);
    expect((await model.events()).filter((text) => FULL.includes(text))).toEqual(['after a.run success b.run']);
    await disconnectPair(model.deps, { emitter: 'b', receiver: 'a' }, true);
    expect(await model.events()).toHaveLength(6);
    await expect(disconnectPair(model.deps, { emitter: 'b', receiver: 'a' }, true)).rejects.toEqual(
      refusal('connection_not_found'),
    );
  });

  test('that a user adds again are the user’s', async () => {
    const { connections } = await model.connect('a', 'b', ['v']);
    await model.addEvents([{ type: 'react_on', parent: 'a.run', on: 'changed', child: 'b.reload' }]);
    await disconnect(model.deps, connections[0]?.id ?? '', false);
    expect(await model.events()).toEqual(['on a.run changed b.reload']);
  });

  test('are added all or none, and each mistake is named with its place', async () => {
    const text =
      'on a.run changed b.reload\non a.run maybe b.run\nafter x.run success b.run\nafter a.run success b.fly';
    await expect(model.addEvents(text)).rejects.toMatchObject({
      code: 'event_condition',
      errors: [
        { code: 'event_condition', line: 2, column: 10 },
        { code: 'unknown_resource', line: 3, column: 7 },
        { code: 'action_not_defined', line: 4, column: 21 },
      ],
    });
    await expect(model.addEvents(['on a.run changed b.reload', 'on a.fly ok b.run'])).rejects.toMatchObject({
      code: 'action_not_defined',
      errors: [{ field: 'events.1.parent', line: 2 }],
    });
    expect(await model.events()).toEqual([]);
  });

  test('of a bare resource stand for all of its actions, where the name has one meaning', async () => {
    await model.create('rmq', 'rmq.run', 'sink');
    expect((await model.addEvents('on sink changed a.reload')).map(({ parent_action }) => parent_action)).toEqual([
      '*',
    ]);
    await expect(model.addEvents('on rmq.run changed a.reload')).rejects.toEqual(refusal('event_ambiguous'));
  });

  test('are removed one by one or by their ends', async () => {
    const { events } = await model.connect('a', 'b', ['v']);
    await removeEvent(model.deps, events[0]?.id ?? '');
    await expect(removeEvent(model.deps, events[0]?.id ?? '')).rejects.toEqual(refusal('event_not_found'));
    expect(await removeEvents(model.deps, { child: 'b' })).toBeGreaterThan(0);
    expect((await model.events()).every((text) => text.endsWith('a.remove'))).toBe(true);
  });
});
