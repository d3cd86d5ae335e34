/** The one stream of a browser, over a listener. */
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiServer } from '../../api/server/api-server.ts';
import { announceStream, createStream } from '../../store/runs/streams.ts';
import { addConfiguration, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { type EventReader, openEvents } from '../sessions/streams/event-reader.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApp } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
let app: ApiServer;
let url: string;
const open: EventReader[] = [];
beforeAll(async () => {
  api = await createTokenApi();
  await addConfiguration(api.deps.db, 'web', 1);
  app = createTestApp({ ...api.deps, access: { mode: 'token', issuer: undefined, lookAgainMs: 50 } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/v1`;
});
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});
afterAll(async () => {
  await app.close();
  await api.close();
});

const bearer = (token = api.tokens.reader) => ({ authorization: `Bearer ${token}` });
async function read(query: string, headers: Record<string, string> = bearer()): Promise<EventReader> {
  const reader = await openEvents(`${url}/stream?${query}`, headers);
  open.push(reader);
  await reader.until(() => reader.frames.length > 0);
  return reader;
}
const setTopics = async (id: string, topics: string[], token?: string) => {
  const answer = await fetch(`${url}/stream/${id}/topics`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ topics }),
  });
  return { status: answer.status, body: await answer.json() };
};
const changes = (reader: EventReader) => reader.frames.filter(({ event }) => event === 'changed');
const topicsOf = (reader: EventReader) => changes(reader).map(({ data }) => data.topic);
let made = 0;
async function makeSession(): Promise<string> {
  const name = `live-${++made}`;
  const { operator } = api.tokens;
  expect((await api.as(operator, 'POST', '/v3/sessions', { configuration_name: 'web', name })).status).toBe(201);
  return sessionId(api.deps.db, name);
}
async function change(id: string, message: string): Promise<void> {
  await setSession(api.deps.db, id, { message, updated_at: new Date() });
  await announceStream(api.deps.db, id);
}

describe('a stream', () => {
  test('says first what it has, and which topics there are none of', async () => {
    const id = await makeSession();
    const reader = await read(`topics=sessions,session:${id},nothing,session:x,sessions:x,constructor`);
    expect(reader.frames[0]).toMatchObject({
      event: 'hello',
      data: {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        topics: ['sessions', `session:${id}`],
        left_out: ['nothing', 'session:x', 'sessions:x', 'constructor'],
      },
    });
  });

  test('is not opened by a request that does not ask for one: that is told which topics there are', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${url}/stream?topics=sessions,nothing`, { method, headers: bearer() });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      if (method === 'GET') expect(await answer.json()).toEqual({ topics: ['sessions'], left_out: ['nothing'] });
    }
  });

  test('tells of each topic once it is watched, and then of changes alone', async () => {
    const [one, other] = [await makeSession(), await makeSession()];
    const reader = await read(`topics=session:${one},session:${other}`);
    await reader.until(() => changes(reader).length === 2);
    expect(topicsOf(reader).sort()).toEqual([`session:${one}`, `session:${other}`].sort());
    const [first] = changes(reader).filter(({ data }) => data.key === one);
    await change(one, 'now');
    await reader.until(() => changes(reader).length === 3);
    expect(changes(reader)[2]).toEqual({
      event: 'changed',
      id: expect.stringMatching(/^[0-9a-f]{16}-[0-9]+$/),
      data: { topic: `session:${one}`, key: one, revision: expect.any(String) },
    });
    expect(changes(reader)[2]?.data.revision).not.toBe(first?.data.revision);
  });

  test('says nothing of what was announced and did not change', async () => {
    const id = await makeSession();
    const reader = await read(`topics=session:${id}`);
    await reader.until(() => changes(reader).length === 1);
    await announceStream(api.deps.db, id);
    await change(id, 'truly');
    await reader.until(() => changes(reader).length === 2);
    expect(changes(reader)).toHaveLength(2);
  });

  test('tells of the list when a session is made', async () => {
    const reader = await read('topics=sessions');
    await reader.until(() => changes(reader).length === 1);
    await makeSession();
    await reader.until(() => changes(reader).length === 2);
    expect(topicsOf(reader)).toEqual(['sessions', 'sessions']);
  });

  test.each([
    ...['attention', 'batches', 'components', 'configurations', 'deployments', 'drift', 'fleet', 'images', 'operator'],
    ...['plans', 'rollouts', 'schedules', 'sessions', 'sources', 'system', 'throughput'],
  ])('tells a reader of %s', async (topic) => {
    const reader = await read(`topics=${topic},${topic}:x`);
    expect(reader.frames[0]?.data).toMatchObject({ topics: [topic], left_out: [`${topic}:x`] });
    await reader.until(() => changes(reader).length === 1);
  });

  test.each([
    ['access', 'admin'],
    ['audit', 'operator'],
    ['webhooks', 'admin'],
  ] as const)('tells of %s who may read it: %s', async (topic, role) => {
    const weaker = role === 'admin' ? 'operator' : 'reader';
    const without = await read(`topics=sessions,${topic}`, bearer(api.tokens[weaker]));
    expect(without.frames[0]?.data).toMatchObject({ topics: ['sessions'], left_out: [topic] });
    const reader = await read(`topics=${topic}`, bearer(api.tokens[role]));
    await reader.until(() => changes(reader).length === 1);
    // That others are told of it does not open it.
    expect(await setTopics(without.frames[0]?.data.id, [topic], api.tokens[weaker])).toEqual({
      status: 200,
      body: { topics: [], left_out: [topic] },
    });
  });

  test.each(['operator', 'reconcile', 'plan', 'attempt'])('has a topic of one %s by its id alone', async (word) => {
    const id = '01234567-89ab-4cde-8f01-23456789abcd';
    const reader = await read(`topics=${word}:${id},${word}:x`);
    expect(reader.frames[0]?.data).toMatchObject({ topics: [`${word}:${id}`], left_out: [`${word}:x`] });
    await reader.until(() => changes(reader).length === 1);
  });

  test('has a topic of one deployment by its path', async () => {
    const topic = 'deployment:projects/p/composite-apps/a/v1/deployment-intent-groups/g';
    const reader = await read(`topics=${topic},deployment,deployment:`);
    expect(reader.frames[0]?.data).toMatchObject({ topics: [topic], left_out: ['deployment', 'deployment:'] });
    await reader.until(() => changes(reader).length === 1);
  });

  test('tells of configurations when one is written, also without a change, and when it is deleted', async () => {
    const { operator } = api.tokens;
    const path = `/v3/configurations/topic-${++made}`;
    const reader = await read('topics=configurations');
    await reader.until(() => changes(reader).length === 1);
    for (const [index, method] of ['PUT', 'PUT', 'DELETE'].entries()) {
      const body = method === 'PUT' ? { layers: [] } : undefined;
      expect((await api.as(operator, method, path, body)).status).toBeLessThan(300);
      await reader.until(() => changes(reader).length === index + 2);
    }
  });

  test('gets other topics', async () => {
    const [one, other] = [await makeSession(), await makeSession()];
    const reader = await read(`topics=session:${one}`);
    await reader.until(() => changes(reader).length === 1);
    const answer = await setTopics(reader.frames[0]?.data.id, [`session:${other}`, 'no']);
    expect(answer).toEqual({ status: 200, body: { topics: [`session:${other}`], left_out: ['no'] } });
    await reader.until(() => changes(reader).length === 2);
    await change(one, 'unheard');
    await change(other, 'heard');
    await reader.until(() => changes(reader).length === 3);
    expect(topicsOf(reader)).toEqual([`session:${one}`, `session:${other}`, `session:${other}`]);
  });

  test('is its owner’s alone', async () => {
    const reader = await read('topics=');
    const id = reader.frames[0]?.data.id;
    expect(await setTopics(id, [], api.tokens.operator)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await setTopics('f'.repeat(32), [])).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await setTopics(id, [])).toMatchObject({ status: 200 });
    reader.close();
    await eventually('it is gone', async () => (await setTopics(id, [])).status === 404);
  });

  test('needs a reader, and takes a bounded number of topics', async () => {
    expect((await fetch(`${url}/stream`)).status).toBe(401);
    expect((await fetch(`${url}/stream`, { headers: bearer(api.tokens.node) })).status).toBe(403);
    const many = Array.from({ length: 201 }, (_, index) => `t${index}`);
    const refused = await fetch(`${url}/stream?topics=${many.join()}`, { headers: bearer() });
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ code: 'bad_request' })]);
    const reader = await read('');
    expect((await setTopics(reader.frames[0]?.data.id, many)).status).toBe(400);
  });
});

describe('a stream that comes again', () => {
  test('is told what changed meanwhile, and nothing else', async () => {
    const [one, other] = [await makeSession(), await makeSession()];
    const topics = `topics=session:${one},session:${other}`;
    const before = await read(topics);
    await before.until(() => changes(before).length === 2);
    const last = before.frames.at(-1)?.id;
    before.close();
    await change(one, 'meanwhile');
    // A topic is watched on for a while.
    const beside = await read(`topics=session:${one}`);
    await beside.until(() => changes(beside).length === 1);
    const again = await read(`${topics}&last_event_id=${last}`);
    await again.until(() => changes(again).length === 1);
    await change(other, 'later');
    await again.until(() => changes(again).length === 2);
    expect(topicsOf(again)).toEqual([`session:${one}`, `session:${other}`]);
    expect(again.frames.map(({ event }) => event)).not.toContain('resync');
  });

  test.each([
    ['of another process', `${'0'.repeat(16)}-1`],
    ['that is none', 'x'],
  ])('with an id %s reads everything again', async (_what, id) => {
    const reader = await read('topics=sessions', { ...bearer(), 'last-event-id': id });
    await reader.until(() => reader.frames.length > 1);
    expect(reader.frames[1]?.event).toBe('resync');
  });
});

describe('a sign-in', () => {
  const signIn = async (token: string) => {
    const answer = await fetch(`${url}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
  };

  test('that is over ends its streams, and no others', async () => {
    const [gone, kept] = [await signIn(api.tokens.reader), await signIn(api.tokens.reader)];
    const [ends, stays] = [await read('topics=sessions', gone), await read('topics=sessions', kept)];
    let over = false;
    const end = ends.ended
      .catch(() => undefined)
      .then(() => {
        over = true;
      });
    await fetch(`${url}/sign-out`, { method: 'POST', headers: gone });
    await end;
    expect(over).toBe(true);
    const before = stays.frames.length;
    await makeSession();
    await stays.until(() => stays.frames.length > before);
  });

  test('ends its streams when its token is revoked', async () => {
    const cookie = await signIn(await api.make({ role: 'reader', name: 'short-lived' }));
    const reader = await read('topics=sessions', cookie);
    expect((await api.as(api.tokens.admin, 'DELETE', '/api/v1/tokens/short-lived')).status).toBe(204);
    await reader.ended.catch(() => undefined);
  });
});

test('a record that is gone is told of as changed, not as a fault', async () => {
  const id = crypto.randomUUID();
  await createStream(api.deps.db, id);
  const reader = await read(`topics=session:${id}`);
  await reader.until(() => changes(reader).length === 1);
  expect(changes(reader)[0]?.data).toEqual({ topic: `session:${id}`, key: id, revision: '' });
});
