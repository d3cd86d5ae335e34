/** Events of deployments, as pages and live. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import type { ContextEvent } from '../../domain/deployments/event-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { noteProbe } from '../../store/deployments/cluster-probes.ts';
import { noteOpen, noteOutcomes, type Outcome, type PhaseGroup } from '../../store/deployments/context-resources.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { documentOf, makeClusters } from './short-fixtures.ts';

let api: TokenApi;
let url: string;
const URL = '/api/v1/deployments';
const now = new Date('2026-11-21T10:00:00Z');

beforeAll(async () => {
  api = await createTokenApi();
  await makeClusters((...request) => api.as(api.tokens.admin, ...request), 'told', {
    north: ['edge'],
    south: ['edge'],
  });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(() => api.close());

const operator = (method: string, path: string, body?: unknown) => api.as(api.tokens.operator, method, path, body);
const engine = () => ({ db: api.database.db, clock: () => now });
const eventsOf = async (name: string, query = ''): Promise<ContextEvent[]> =>
  (await operator('GET', `${URL}/${name}/events${query}`)).body.events;
const groupOf = (context: string, cluster: string) =>
  ({ context, app: 'agent', provider: 'told', cluster, phase: 'apply' }) as const;
const applied = { status: 'Applied', reason: null, message: null } as const;
const noteOutcome = (db: Db, group: PhaseGroup, key: string, outcome: Outcome, at: Date) =>
  noteOutcomes(db, group, [{ ...outcome, key, at }]);

function wordsOf(event: ContextEvent): string {
  const words: (string | null)[] = [event.type];
  if (event.type === 'resource')
    words.push(event.app, event.cluster, event.resource, event.from, event.status, event.reason, event.message);
  if (event.type === 'status') words.push(event.from, event.status);
  if (event.type === 'state') words.push(event.state);
  if (event.type === 'connectivity') words.push(event.cluster, event.connectivity);
  return words.filter((word) => word !== null).join(' ');
}

interface Message {
  id: string | undefined;
  event: string | undefined;
  data: unknown;
}

/** The messages of a live stream, each as it comes. */
async function* messagesOf(path: string, headers: Record<string, string> = {}): AsyncGenerator<Message, void> {
  const closing = new AbortController();
  const answer = await fetch(url + path, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${api.tokens.reader}`, ...headers },
    signal: closing.signal,
  });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts.filter((one) => one.includes('data: '))) {
        const member = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
        yield { id: member('id'), event: member('event'), data: JSON.parse(member('data') ?? 'null') };
      }
    }
  } finally {
    closing.abort();
  }
}

/** Reads a live stream until it ends, or until `enough` of its messages are there. */
async function follow(path: string, enough = Number.POSITIVE_INFINITY, headers: Record<string, string> = {}) {
  const messages: Message[] = [];
  for await (const message of messagesOf(path, headers)) {
    messages.push(message);
    if (messages.length >= enough) break;
  }
  return messages;
}

test('each change is told once, in its order, until the AppContext has ended', async () => {
  const { instance } = (await operator('POST', URL, documentOf('one', 'told'))).body;
  const live = follow(`${URL}/one/events`);
  const { db } = api.database;
  const north = groupOf(instance, 'north');
  await beginPhase(engine(), instance);
  await noteOutcome(db, north, 'cfg+ConfigMap', applied, now);
  await noteOutcome(db, north, 'cfg+ConfigMap', applied, now);
  const away = { status: 'Retrying', reason: 'Unreachable', message: 'no route' } as const;
  await noteOpen(db, groupOf(instance, 'south'), away, now);
  await noteOpen(db, groupOf(instance, 'south'), away, now);
  const cluster = { provider: 'told', cluster: 'south', revision: 1 };
  await noteProbe(db, cluster, { seen: { version: 'v1' } }, { now, next: now });
  await noteProbe(db, cluster, { seen: { version: 'v1' } }, { now, next: now });
  await noteProbe(db, cluster, { failed: { reason: 'Unreachable', message: '' } }, { now, next: now });
  await operator('POST', `${URL}/one/stop`);
  await finishPhase(engine(), instance, 'apply');
  await operator('POST', `${URL}/one/terminate`);
  await db.updateTable('context_resources').set({ status: 'Deleted' }).where('context', '=', instance).execute();
  await finishPhase(engine(), instance, 'delete');
  const events = await eventsOf('one');
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const words = events.map(wordsOf);
  expect(words.slice(0, 6)).toEqual([
    'state Instantiated',
    'resource agent told+north cfg+ConfigMap Pending Applied',
    'resource agent told+south cfg+ConfigMap Pending Retrying Unreachable no route',
    'resource agent told+south agent+Service Pending Retrying Unreachable no route',
    'connectivity told+south Reachable',
    'connectivity told+south Retrying',
  ]);
  expect(words).toEqual(
    expect.arrayContaining([
      'state InstantiateStopped',
      'resource agent told+north agent+Service Pending Failed Stopped',
      'status Instantiating InstantiateFailed',
      'status InstantiateFailed Terminating',
      'state Terminated',
      'status Terminating Terminated',
    ]),
  );
  const messages = await live;
  const end = messages.pop();
  expect(end).toMatchObject({ event: 'end', data: { instance, status: 'Terminated', deleted: false } });
  expect(messages.map(({ data }) => data)).toEqual(events);
  expect(messages.map(({ id }) => Number(id))).toEqual(events.map(({ seq }) => seq));
});

test('what many write at a time has its numbers without a gap, each change once', async () => {
  const { db } = api.database;
  const names = Array.from({ length: 30 }, (_, number) => `c${number}`);
  const manifests = names.map((name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`).join('---\n');
  const apps = [{ name: 'agent', manifests, placement: { all_of: [{ provider: 'told', label: 'edge' }] } }];
  const { instance } = (await operator('POST', URL, { name: 'many', apps })).body;
  await beginPhase(engine(), instance);
  const cluster = { provider: 'told', cluster: 'south', revision: 1 };
  await noteProbe(db, cluster, { failed: { reason: 'Unreachable', message: '' } }, { now, next: now });
  const writes = names.flatMap((name) =>
    ['north', 'south'].map((one) => () => noteOutcome(db, groupOf(instance, one), `${name}+ConfigMap`, applied, now)),
  );
  // Of all at once, most would wait for a connection, and for no longer than the pool lets them.
  const writer = async () => {
    for (let next = writes.shift(); next !== undefined; next = writes.shift()) await next();
  };
  await Promise.all([
    ...Array.from({ length: 8 }, writer),
    noteProbe(db, cluster, { seen: { version: 'v1' } }, { now, next: now }),
  ]);
  const events = await eventsOf('many', '?limit=1000');
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const resources = events.flatMap((event) =>
    event.type === 'resource' ? [`${event.cluster} ${event.resource}`] : [],
  );
  expect([resources.length, new Set(resources).size]).toEqual([60, 60]);
  expect(events.map(wordsOf)).toContain('connectivity told+south Reachable');
});

test('what is written at once is told in the order in which it was known, each with its time', async () => {
  const { instance } = (await operator('POST', URL, documentOf('known', 'told'))).body;
  await beginPhase(engine(), instance);
  const later = new Date(now.getTime() + 150);
  await noteOutcomes(api.database.db, groupOf(instance, 'north'), [
    { ...applied, key: 'agent+Service', at: now },
    { ...applied, key: 'cfg+ConfigMap', at: later },
  ]);
  const told = (await eventsOf('known')).flatMap((event) =>
    event.type === 'resource' ? [`${event.time} ${event.resource}`] : [],
  );
  expect(told).toEqual([`${now.toISOString()} agent+Service`, `${later.toISOString()} cfg+ConfigMap`]);
});

test('a cluster that goes away is told of even where that could not be written at first', async () => {
  const { db } = api.database;
  await operator('POST', URL, documentOf('told-late', 'told'));
  const cluster = { provider: 'told', cluster: 'north', revision: 1 };
  await noteProbe(db, cluster, { seen: { version: 'v1' } }, { now, next: now });
  const goes = () => noteProbe(db, cluster, { failed: { reason: 'Unreachable', message: '' } }, { now, next: now });
  await sql`create function no_room() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`.execute(db);
  await sql`create trigger no_room before insert on context_events execute function no_room()`.execute(db);
  await expect(goes()).rejects.toThrow('no room');
  await sql`drop function no_room() cascade`.execute(db);
  await goes();
  expect((await eventsOf('told-late')).map(wordsOf)).toContain('connectivity told+north Retrying');
});

test('pages go on behind each other, the last ones can be asked for, and a reader that comes back misses nothing', async () => {
  const { instance } = (await operator('POST', URL, documentOf('two', 'told'))).body;
  await beginPhase(engine(), instance);
  for (const key of ['cfg+ConfigMap', 'agent+Service']) {
    for (const cluster of ['north', 'south']) {
      await noteOutcome(api.database.db, groupOf(instance, cluster), key, applied, now);
    }
  }
  await finishPhase(engine(), instance, 'apply');
  const all = await eventsOf('two');
  expect(all).toHaveLength(6);
  const first = (await operator('GET', `${URL}/two/events?limit=4&instance=${instance}`)).body;
  expect([first.events, first.cursor]).toEqual([all.slice(0, 4), 4]);
  const rest = (await operator('GET', `${URL}/two/events?${new URLSearchParams(first.next)}`)).body;
  expect([rest.events, rest.next]).toEqual([all.slice(4), null]);
  expect(await eventsOf('two', '?tail=2')).toEqual(all.slice(-2));
  const back = await follow(`${URL}/two/events`, 2, { 'last-event-id': '4' });
  expect(back.map(({ data }) => data)).toEqual(all.slice(4));
});

test('a deployment without an AppContext has none, and its live stream is refused', async () => {
  await operator('POST', URL, documentOf('three', 'told', { instantiate: false }));
  expect((await operator('GET', `${URL}/three/events`)).body).toEqual({ events: [], cursor: 0, next: null });
  const live = { accept: 'text/event-stream' };
  const refused = await api.as(api.tokens.reader, 'GET', `${URL}/three/events`, undefined, live);
  expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state']);
});

test.each<[string, number, string]>([
  ['nosuch/events', 404, 'not_found'],
  ['a%2Bb/events', 400, 'bad_request'],
  ['one/events?instance=9', 404, 'not_found'],
  ['one/events?after=-1', 400, 'bad_request'],
  ['one/events?tail=0', 400, 'bad_request'],
  ['one/events?limit=0', 400, 'bad_request'],
])('%s is refused', async (path, status, code) => {
  const refused = await operator('GET', `${URL}/${path}`);
  expect([refused.status, refused.body.code]).toEqual([status, code]);
});

test('the status is told live: the whole of it, again when it has changed', async () => {
  const { instance } = (await operator('POST', URL, documentOf('four', 'told'))).body;
  await beginPhase(engine(), instance);
  await noteOutcome(api.database.db, groupOf(instance, 'north'), 'cfg+ConfigMap', applied, now);
  const live = messagesOf(`${URL}/four/status?output=summary`);
  const told = (counts: object) => ({ done: false, value: { event: 'status', data: { 'rsync-status': counts } } });
  expect(await live.next()).toMatchObject(told({ Pending: 3, Applied: 1 }));
  await noteOutcome(api.database.db, groupOf(instance, 'south'), 'cfg+ConfigMap', applied, now);
  expect(await live.next()).toMatchObject(told({ Pending: 2, Applied: 2 }));
  await live.return();
});
