import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readHostLayers, readHostNames, readHostsNotApplied } from '../../../store/runs/host-result-reads.ts';
import { openStreamFeed, type StreamFeed } from '../../../store/runs/stream-feed.ts';
import { announceStream } from '../../../store/runs/streams.ts';
import { deleteSessionRows } from '../../../store/sessions/session-queries.ts';
import { findRootName, insertSession, type NewSession, requestCancel } from '../../../store/sessions/sessions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { addResults, addRun } from '../session-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

let count = 0;
const newSession = (over: Partial<NewSession> = {}): NewSession => ({
  id: crypto.randomUUID(),
  name: `s-${++count}`,
  configurationName: 'web',
  configurationLimit: '',
  ansibleConfig: 'cfg',
  ansibleLimit: '',
  ansibleVerbosity: 0,
  ansiblePassthrough: '',
  target: { definition: 'dynamic', groups: null, image_map: null },
  tags: {},
  debugOnFailure: false,
  snapshot: { layers: [], additional_inventory: null, debug_playbook: null, ansible_config: 'cfg' },
  muster: null,
  retryOf: null,
  actor: null,
  now: new Date('2026-11-21T10:00:00Z'),
  ...over,
});
const insert = async (over: Partial<NewSession> = {}) => {
  const row = await insertSession(database.db, newSession(over));
  if (row === null) throw new Error('the name is taken');
  return row;
};
const now = new Date();

describe('records', () => {
  test('a name is taken while its session is there, also by a delete that is on its way', async () => {
    const { db } = database;
    const { name } = await insert();
    expect(await insertSession(db, newSession({ name }))).toBeNull();
    const made = await db.transaction().execute(async (trx) => {
      await deleteSessionRows(trx, { name }, { reason: 'x', actor: null, now });
      // Waits for the end of this transaction and then finds the name free.
      return { waiting: insertSession(db, newSession({ name })) };
    });
    expect(await made.waiting).toMatchObject({ name, stage: 'queued' });
  });

  test('the root of a chain of retries is found through deleted ones', async () => {
    const { db } = database;
    const root = await insert({ name: 'root' });
    const middle = await insert({ retryOf: root.id });
    const last = await insert({ retryOf: middle.id });
    await db
      .transaction()
      .execute((trx) => deleteSessionRows(trx, { name: 'root' }, { reason: 'x', actor: null, now }));
    await insert({ name: 'root' });
    expect(await findRootName(db, last.id)).toBe('root');
    expect(await findRootName(db, root.id)).toBe('root');
  });

  test('of many cancels at once the first counts', async () => {
    const { id } = await insert();
    const cancels = Array.from({ length: 10 }, (_, index) =>
      requestCancel(database.db, id, { reason: `r${index}`, message: 'm', actor: null, now }),
    );
    expect((await Promise.all(cancels)).filter(Boolean)).toHaveLength(1);
    const messages = await database.db.selectFrom('outbox').select('kind').where('session_id', '=', id).execute();
    expect(messages.map(({ kind }) => kind).sort()).toEqual(['cancel', 'start']);
  });
});

describe('hosts', () => {
  test('come by code point, from results and events together, page by page', async () => {
    const { db } = database;
    const { id } = await insert();
    await addRun(db, id, {
      layer: 0,
      exitCode: 0,
      results: ['b', 'Z', 'a-1'].map((host) => ({ host, status: 'applied' })),
    });
    await addRun(db, id, { layer: 1, exitCode: null, results: [] });
    await addResults(
      db,
      { id, layer: 1 },
      ['a1', 'Z', 'é', '_x'].map((host) => ({ host, task: 't', result: 'ok' })),
    );
    const expected = ['Z', '_x', 'a-1', 'a1', 'b', 'é'];
    expect(await readHostNames(db, id, '', 100)).toEqual(expected);
    const paged: string[] = [];
    for (let page = await readHostNames(db, id, '', 2); page.length > 0; ) {
      paged.push(...page);
      page = await readHostNames(db, id, page.at(-1) ?? '', 2);
    }
    expect(paged).toEqual(expected);
    const layers = await readHostLayers(db, id, ['Z', 'b']);
    expect(layers.map(({ host, layer, status }) => [host, layer, status])).toEqual([
      ['Z', 0, 'applied'],
      ['Z', 1, 'incomplete'],
      ['b', 0, 'applied'],
    ]);
    expect((await readHostsNotApplied(db, id)).map(({ host, layer }) => [host, layer])).toEqual([
      ['Z', 1],
      ['_x', 1],
      ['a1', 1],
      ['é', 1],
    ]);
  });
});

describe('the feed of changes', () => {
  const never = new AbortController().signal;
  const withFeed = async (safetyMs: number, use: (feed: StreamFeed) => Promise<void>) => {
    const feed = openStreamFeed({ url: database.url, safetyMs, reconnectMs: 50 });
    try {
      await use(feed);
    } finally {
      await feed.close();
    }
  };
  const heard = async (feed: StreamFeed, id: string) => {
    const topic = feed.join(id);
    // The first change is that the feed listens now.
    expect(await topic.changed(0, 60_000, never)).toBe(true);
    return topic;
  };

  test('wakes the readers of a stream that changed, and of no other', () =>
    withFeed(3_600_000, async (feed) => {
      const [one, same, other] = [await heard(feed, 'one'), feed.join('one'), feed.join('other')];
      const { version } = one;
      const waits = [one.changed(version, 60_000, never), same.changed(version, 60_000, never)];
      await announceStream(database.db, 'one');
      expect(await Promise.all(waits)).toEqual([true, true]);
      expect(other.version).toBe(0);
      expect(await other.changed(0, 1, never)).toBe(false);
    }));

  test('what changed before a reader waits is not missed', () =>
    withFeed(3_600_000, async (feed) => {
      const [topic, witness] = [await heard(feed, 'one'), feed.join('one')];
      const { version } = topic;
      const seen = witness.changed(version, 60_000, never);
      await announceStream(database.db, 'one');
      await seen;
      expect(await topic.changed(version, 0, never)).toBe(true);
    }));

  test('wakes everybody now and then, whatever was heard', () =>
    withFeed(20, async (feed) => {
      const topic = await heard(feed, 'one');
      expect(await topic.changed(topic.version, 60_000, never)).toBe(true);
    }));

  test('a reader that gives up waits no longer', () =>
    withFeed(3_600_000, async (feed) => {
      const topic = await heard(feed, 'one');
      const controller = new AbortController();
      const waiting = topic.changed(topic.version, 60_000, controller.signal);
      controller.abort();
      expect(await waiting).toBe(false);
      expect(await topic.changed(topic.version, 60_000, controller.signal)).toBe(false);
    }));

  test('a database that is not there yet is no error', async () => {
    const feed = openStreamFeed({ url: 'postgres://nobody@127.0.0.1:1/none', safetyMs: 20, reconnectMs: 10 });
    const topic = feed.join('one');
    expect(await topic.changed(0, 60_000, never)).toBe(true);
    expect(await topic.changed(topic.version, 60_000, never)).toBe(true);
    await feed.close();
  });
});
