/** Each kind of change that can make a component pending is announced, and reports that cannot are not. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { BATCHER_CHANNEL } from '../../store/batches/batcher-state.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { eventually } from '../support/eventually.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';
import { layerOf, openRealBatcher, type RealBatcher } from './real-batcher.ts';

let batcher: RealBatcher;
let listener: pg.Client;
let heard = 0;
/** A notification that comes after all that were made before it. */
let marks: string[] = [];

beforeAll(async () => {
  batcher = await openRealBatcher();
  listener = new pg.Client({ connectionString: batcher.database.url });
  await listener.connect();
  listener.on('notification', ({ payload }) => {
    if (payload === '') heard += 1;
    else marks.push(payload ?? '');
  });
  await listener.query(`listen ${BATCHER_CHANNEL}`);
  await batcher.configure('A', 2);
  await batcher.put({ id: 'a', state: [[0, 'applied']] });
});
afterAll(async () => {
  await listener?.end();
  await batcher?.close();
});

/** Whether the change was announced. */
async function announces(change: () => Promise<unknown>): Promise<boolean> {
  await mark();
  heard = 0;
  await change();
  await mark();
  return heard > 0;
}

async function mark(): Promise<void> {
  const name = String(Math.random());
  marks = [];
  const other = new pg.Client({ connectionString: batcher.database.url });
  await other.connect();
  await other.query('select pg_notify($1, $2)', [BATCHER_CHANNEL, name]);
  await other.end();
  await eventually('the mark is heard', () => marks.includes(name));
}

const set = (values: object) => () =>
  batcher.database.db.updateTable('components').set(values).where('id', '=', 'a').execute();
const entry = (index: number, status: string) => ({
  ...layerOf(index),
  status,
  session_name: 's',
  last_updated: '2026-11-21T10:00:00Z',
});
const state = (...entries: object[]) => JSON.stringify(entries);

test.each<[string, boolean, () => Promise<unknown>]>([
  ['a new component that desires something', true, () => batcher.put({ id: 'b' })],
  ['a new component that is disabled', false, () => batcher.put({ id: 'c', enabled: false })],
  ['the same record again', false, () => batcher.put({ id: 'b' })],
  ['a desired configuration', true, set({ desired_config: 'B' })],
  ['back to the first one', true, set({ desired_config: 'A' })],
  ['a report of a layer', false, set({ state: state(entry(0, 'applied'), entry(1, 'applied')) })],
  ['a failure where something was reached', true, set({ state: state(entry(0, 'applied'), entry(1, 'failed')) })],
  [
    'a failure where nothing was reached',
    false,
    set({ state: state(entry(0, 'applied'), entry(1, 'failed')), error_count: 2 }),
  ],
  ['a cleared error count', true, set({ error_count: 0 })],
  ['a retry policy', true, set({ retry_policy: 5 })],
  ['tags', false, set({ tags: '{"a":"b"}' })],
  ['a boot, which clears the state', true, set({ state: '[]' })],
  ['being disabled', false, set({ enabled: false })],
  ['a boot of a disabled one', false, set({ state: state(entry(0, 'applied')) })],
  ['being enabled', true, set({ enabled: true })],
  ['a changed configuration', true, () => batcher.configure('A', 2, 1)],
  ['the same configuration', false, () => batcher.configure('A', 2, 1)],
  ['a new configuration', true, () => batcher.configure('B', 1)],
  ['an option', true, () => batcher.setOptions({ batch_window: 7 })],
  ['the empty patch of a batcher of CFS', false, () => batcher.setOptions({})],
])('%s: %s', async (_what, announced, change) => {
  expect(await announces(change)).toBe(announced);
});

test('the end of any session, and each step of the batcher’s own', async () => {
  const { db } = batcher.database;
  const own = await makeSession(db, { actor: 'batcher' });
  const other = await makeSession(db, { actor: 'alice' });
  const run = (id: string) => () =>
    db.updateTable('sessions').set({ status: 'running' }).where('id', '=', id).execute();
  expect(await announces(run(own.id))).toBe(true);
  expect(await announces(run(other.id))).toBe(false);
  for (const { id } of [own, other]) {
    expect(
      await announces(() => writeEnd(db, id, { succeeded: 'true', message: 'done', reason: null }, new Date())),
    ).toBe(true);
  }
});
