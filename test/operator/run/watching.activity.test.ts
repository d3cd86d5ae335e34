/** The watch of one kind against a cluster that forgets, breaks off and tells of other objects. */
import { describe, expect, test } from '@jest/globals';
import type { WatchEntry } from '../../../domain/operator/watch-entry.ts';
import { keepSigns } from '../../../domain/operator/watch-signs.ts';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { createDiscovery } from '../../../drivers/operator-watch/discovery.ts';
import { type Told, watchEntry } from '../../../drivers/operator-watch/metadata-watch.ts';
import { eventually } from '../../support/eventually.ts';
import { load } from '../watches/entries.ts';

type Answer = { status: number; body: unknown };

const entryWith = (more: Partial<WatchEntry>): WatchEntry => {
  const [entry] = load('[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml}]').entries;
  if (entry === undefined) throw new Error('no entry');
  return { ...entry, ...more };
};
const object = (name: string, uid: string, generation: number) => ({
  metadata: { name, namespace: 'ns', uid, generation, resourceVersion: `${generation}` },
});
const page = (items: object[], next?: string): Answer => ({
  status: 200,
  body: { metadata: { resourceVersion: '10', ...(next === undefined ? {} : { continue: next }) }, items },
});
const GONE: Answer = { status: 410, body: {} };
const KINDS: Answer = { status: 200, body: { resources: [{ name: 'widgets', kind: 'Widget', namespaced: true }] } };

/** A cluster that gives these lists one after the other, and these lines in its watches. */
function scripted(lists: Answer[], watches: (string[] | Error)[]) {
  const asked: ClusterRequest[] = [];
  const client: ClusterClient = {
    ask: async <T>(request: ClusterRequest) => {
      asked.push(request);
      const answer = request.path.endsWith('/widgets') ? lists.shift() : KINDS;
      if (answer === undefined) throw new Error('no more lists');
      return answer as { status: number; body: T };
    },
    open: async (_path, _query, signal) => {
      const lines = watches.shift();
      if (lines instanceof Error) throw lines;
      return (async function* () {
        for (const line of lines ?? []) yield Buffer.from(`${line}\n`);
        if (lines === undefined) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      })();
    },
  };
  return { client, asked };
}

async function watched(
  lists: Answer[],
  watches: (string[] | Error)[],
  times: number,
  entry: WatchEntry = entryWith({}),
): Promise<Told[]> {
  const { client } = scripted(lists, watches);
  const told: Told[] = [];
  const stop = new AbortController();
  const done = watchEntry(
    {
      entry,
      client,
      discovery: createDiscovery(client),
      namespaces: null,
      take: (one) => told.push(one),
      tellState: () => undefined,
      signs: { note: () => undefined, forget: () => undefined },
    },
    stop.signal,
  );
  await eventually(`${times} notes`, () => told.length >= times);
  stop.abort();
  await done;
  return told;
}

const shown = (told: Told[]) =>
  told.map(({ objects, gone, isComplete, isFirst }) => ({
    objects: objects.map(({ name, uid, generation }) => `${name} ${uid} ${generation}`),
    gone,
    isComplete,
    isFirst,
  }));
const line = (type: string, of: object) => JSON.stringify({ type, object: of });

test('pages that are too old are read again from the beginning, and nothing of them counts', async () => {
  const lists = [
    page([object('old', 'u0', 1)], 'a'),
    GONE,
    page([object('one', 'u1', 1)], 'b'),
    page([object('two', 'u2', 1)]),
  ];
  expect(shown(await watched(lists, [], 1))).toEqual([
    { objects: ['one u1 1', 'two u2 1'], gone: [], isComplete: true, isFirst: true },
  ]);
});

test('a list without items is an empty one', async () => {
  const empty: Answer = { status: 200, body: { metadata: { resourceVersion: '10' }, items: null } };
  expect(shown(await watched([empty], [], 1))).toEqual([{ objects: [], gone: [], isComplete: true, isFirst: true }]);
});

test('a change of the spec is told, one of the status is not', async () => {
  const lines = [line('MODIFIED', object('one', 'u1', 1)), line('MODIFIED', object('one', 'u1', 2))];
  expect(shown(await watched([page([object('one', 'u1', 1)])], [lines], 2)).slice(1)).toEqual([
    { objects: ['one u1 2'], gone: [], isComplete: false, isFirst: false },
  ]);
});

test('an object that the selector no longer takes is told as gone, and as back when it does again', async () => {
  const entry = entryWith({ selector: { matchLabels: { on: 'yes' }, matchExpressions: [] } });
  const labelled = (labels: object, generation = 1) => {
    const { metadata } = object('one', 'u1', generation);
    return { metadata: { ...metadata, labels } };
  };
  const lines = [{}, { other: '1' }, { on: 'yes' }].map((labels) => line('MODIFIED', labelled(labels)));
  const told = await watched(
    [page([labelled({ on: 'yes' })])],
    [[...lines, line('MODIFIED', labelled({}, 2))]],
    4,
    entry,
  );
  expect(shown(told).slice(1)).toMatchObject([
    { objects: [], gone: ['u1'] },
    { objects: ['one u1 1'], gone: [] },
    { objects: [], gone: ['u1'] },
  ]);
  expect(told[2]?.objects).toMatchObject([{ isBack: true }]);
});

test('annotations of Muster are told without a change of the spec, and those of others are not', async () => {
  const annotated = (annotations: Record<string, string>) => {
    const { metadata } = object('one', 'u1', 1);
    return line('MODIFIED', { metadata: { ...metadata, annotations } });
  };
  const lines = [
    annotated({ other: '1' }),
    annotated({ 'muster/paused': 'true' }),
    annotated({ 'muster/paused': 'true', other: '2' }),
  ];
  const told = await watched([page([object('one', 'u1', 1)])], [[...lines, annotated({})]], 3);
  expect(told.map(({ objects }) => objects.map(({ own }) => own))).toEqual([[null], [{ paused: true }], [null]]);
});

test('after a gap: a new list tells what is new, what changed, what is gone and what was made again; what is equal is not told', async () => {
  const before = page([
    object('same', 'u1', 1),
    object('changed', 'u2', 1),
    object('gone', 'u3', 1),
    object('again', 'u4', 1),
  ]);
  const after = page([
    object('same', 'u1', 1),
    object('changed', 'u2', 2),
    object('again', 'u5', 1),
    object('new', 'u6', 1),
  ]);
  const expired = JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } });
  expect(shown(await watched([before, after], [[expired]], 2)).slice(1)).toEqual([
    { objects: ['changed u2 2', 'again u5 1', 'new u6 1'], gone: ['u4', 'u3'], isComplete: false, isFirst: false },
  ]);
});

test('a way that breaks leads to a new list of all, which is not the first', async () => {
  const list = page([object('one', 'u1', 1)]);
  expect(
    shown(await watched([list, list], [new Error('broken')], 2)).map(({ isComplete, isFirst }) => [
      isComplete,
      isFirst,
    ]),
  ).toEqual([
    [true, true],
    [true, false],
  ]);
});

test('objects that the selector does not take are told of no more than of their end', async () => {
  const entry = entryWith({ selector: { matchLabels: { on: 'yes' }, matchExpressions: [] } });
  const lines = [line('ADDED', object('two', 'u2', 1)), line('DELETED', object('two', 'u2', 1))];
  expect(shown(await watched([page([object('one', 'u1', 1)])], [lines], 2, entry))).toEqual([
    { objects: [], gone: [], isComplete: true, isFirst: true },
    { objects: [], gone: ['u2'], isComplete: false, isFirst: false },
  ]);
});

describe('signs of a watch', () => {
  const follow = (client: ClusterClient) => {
    let now = 0;
    const signs = keepSigns(() => now);
    const states: string[] = [];
    const stop = new AbortController();
    const done = watchEntry(
      {
        ...{ entry: entryWith({}), client, discovery: createDiscovery(client), namespaces: null, signs },
        take: () => undefined,
        tellState: (state) => void states.push(state),
      },
      stop.signal,
    );
    const pass = (seconds: number) => {
      now += seconds * 1_000;
    };
    return { signs, states, pass, stop: () => stop.abort(), done };
  };

  test('end where a request never comes back: a start of the process anew would help', async () => {
    const { client } = scripted([page([])], []);
    const asked = Promise.withResolvers<void>();
    const never = Promise.withResolvers<AsyncIterable<Buffer>>();
    const open = () => {
      asked.resolve();
      return never.promise;
    };
    const { signs, pass, stop, done } = follow({ ...client, open });
    await asked.promise;
    pass(180);
    expect(signs.still()).toBeNull();
    pass(1);
    expect(signs.still()).toEqual({ watch: '/apis/demo.io/v1/widgets', seconds: 181 });
    stop();
    never.reject(new Error('over'));
    await done;
    expect(signs.still()).toBeNull();
  });

  test('go on while the cluster is away: its state says so', async () => {
    const { client } = scripted([], []);
    const { signs, states, pass, stop, done } = follow(client);
    await eventually('it has failed', () => states.includes('failing'));
    pass(181);
    await eventually('it has tried again', () => signs.still() === null);
    stop();
    await done;
  });
});
