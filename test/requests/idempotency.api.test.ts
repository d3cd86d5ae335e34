import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createImageJob } from '../../control/images/create-image-job.ts';
import { createAnswerOnce } from '../../control/requests/answer-once.ts';
import { ImageJobCreateSchema } from '../../domain/images/schema.ts';
import { ableWorker, importedImage, PUBLIC_KEY, smallTar, upload } from '../images/fixtures.ts';
import { type Answer, createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ access: { mode: 'none', actorHeader: 'x-actor' } });
  await api.call('PUT', '/v3/configurations/c', {
    layers: [{ clone_url: 'u', playbook: 'p', commit: 'a'.repeat(40) }],
  });
});
afterAll(() => api.close());

const REPLAYED = 'idempotency-replayed';
const send = (key: string, method: string, url: string, body?: unknown, headers = {}) =>
  api.call(method, url, body, { 'idempotency-key': key, ...headers });
const session = (name: string, more = {}) => ({ name, configuration_name: 'c', ...more });

function expectReplay(answer: Answer, first: Answer): void {
  expect(first.headers[REPLAYED]).toBeUndefined();
  expect(answer.headers[REPLAYED]).toBe('true');
  expect([answer.status, answer.body]).toEqual([first.status, first.body]);
  expect(answer.headers['content-type']).toBe(first.headers['content-type']);
}

describe('a write that comes again with its key', () => {
  test('POST of a session answers the first record, though it was patched or deleted since', async () => {
    const key = randomUUID();
    const first = await send(key, 'POST', '/v3/sessions', session('s1'));
    expect(first.status).toBe(201);
    await api.call('PATCH', '/v3/sessions/s1', { status: { session: { status: 'running' } } });
    expectReplay(await send(key, 'POST', '/v3/sessions', session('s1')), first);
    await api.call('DELETE', '/v3/sessions/s1');
    expectReplay(await send(key, 'POST', '/v3/sessions', session('s1')), first);
    expect((await api.call('GET', '/v3/sessions/s1')).status).toBe(404);
  });

  test.each<[string, string, unknown, number]>([
    ['PUT', '/v3/components/one', { enabled: true }, 200],
    ['PUT', '/v3/components', [{ id: 'one' }, { id: 'two' }], 200],
    ['PATCH', '/v3/components/one', { error_count: 5 }, 200],
    ['PATCH', '/v3/components', { patch: { enabled: false }, filters: { ids: 'two' } }, 200],
    ['PATCH', '/v3/options', { batch_size: 7 }, 200],
    ['PUT', '/v3/configurations/made', { layers: [] }, 200],
    ['PATCH', '/v3/configurations/made', undefined, 200],
    ['DELETE', '/v3/configurations/made', undefined, 204],
    ['POST', '/v3/sources', { name: 's', clone_url: 'u', credentials: { username: 'u', password: 'p' } }, 201],
    ['DELETE', '/v3/sources/s', undefined, 204],
    ['PUT', '/api/v1/secrets/a/b', { value: 'v' }, 204],
    ['DELETE', '/v3/components/one', undefined, 204],
    ['DELETE', '/v3/components/none', undefined, 404],
    ['POST', '/v3/sessions', { name: 'x', configuration_name: 'none' }, 400],
    ['DELETE', '/v3/sessions?status=pending&name_contains=nothing', undefined, 200],
    ['PUT', '/apis/cfs/v3/components/one', {}, 200],
    ['PUT', '/v2/components/two', { id: 'two' }, 200],
  ])('%s %s %j is %i, and the same again', async (method, url, body, status) => {
    const key = `${method} ${url}`;
    const first = await send(key, method, url, body);
    expect(first.status).toBe(status);
    expectReplay(await send(key, method, url, body), first);
  });

  test('changes nothing', async () => {
    const key = randomUUID();
    const append = { clone_url: 'u', playbook: 'p', commit: 'c1', session_name: 's' };
    await api.call('PUT', '/v3/components/node', {});
    await send(key, 'PATCH', '/v3/components/node', { state_append: append });
    await api.call('PATCH', '/v3/components/node', { state_append: { ...append, commit: 'c2' } });
    await send(key, 'PATCH', '/v3/components/node', { state_append: append });
    const { state } = (await api.call('GET', '/v3/components/node?state_details=true')).body;
    expect(state.map((layer: { commit: string }) => layer.commit)).toEqual(['c2']);
  });

  test('an answer of several MB comes again', async () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => ({ id: `bulk-${'x'.repeat(100)}-${index}` }));
    const first = await send('bulk', 'PUT', '/v3/components', ids);
    expect(JSON.stringify(first.body).length).toBeGreaterThan(2_000_000);
    expectReplay(await send('bulk', 'PUT', '/v3/components', ids), first);
  });

  test('50 at once are worked on once, and all get the answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send('burst', 'POST', '/v3/sessions', session('burst'))),
    );
    const [first] = answers;
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([201, first?.body]);
    expect(answers.filter((answer) => answer.headers[REPLAYED] === undefined)).toHaveLength(1);
  });
});

describe('what makes another request', () => {
  test('another key, method, path, query, actor or tenant', async () => {
    await send('same', 'PUT', '/v3/components/k1', {});
    for (const [method, url, headers] of [
      ['PATCH', '/v3/components/k1', {}],
      ['PUT', '/v3/components/k2', {}],
      ['PUT', '/apis/cfs/v3/components/k1', {}],
      ['PUT', '/v3/components/k1?x=1', {}],
      ['PUT', '/v3/components/k1', { 'cray-tenant-name': 't' }],
      ['PUT', '/v3/components/k1', { 'x-actor': 'somebody' }],
    ] as const) {
      expect((await send('same', method, url, {}, headers)).headers[REPLAYED]).toBeUndefined();
    }
    expect((await send('other', 'PUT', '/v3/components/k1', {})).headers[REPLAYED]).toBeUndefined();
    expect((await send('same', 'PUT', '/v3/components/k1', {})).headers[REPLAYED]).toBe('true');
  });

  test('the same key with another body is refused and changes nothing', async () => {
    await send('body', 'PUT', '/v3/components/b', { enabled: true });
    for (const body of [{ enabled: false }, {}, '{"enabled": true}']) {
      const answer = await send('body', 'PUT', '/v3/components/b', body);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'idempotency_key_reused', detail: expect.stringContaining("'body'") });
    }
    expect((await api.call('GET', '/v3/components/b')).body.enabled).toBe(true);
  });

  test('after 24 h the key is new', async () => {
    const first = await send('day', 'PUT', '/v3/components/day', {});
    const start = api.now.value;
    api.now.value = new Date(start.getTime() + 24 * 3_600_000 - 1_000);
    expectReplay(await send('day', 'PUT', '/v3/components/day', {}), first);
    api.now.value = new Date(start.getTime() + 24 * 3_600_000);
    expect((await send('day', 'PUT', '/v3/components/day', { enabled: true })).body.enabled).toBe(true);
    expect((await send('day', 'PUT', '/v3/components/day', { enabled: true })).headers[REPLAYED]).toBe('true');
    api.now.value = start;
  });

  test('reads are read', async () => {
    for (const turn of [1, 2]) {
      const answer = await send('read', 'GET', '/v3/options');
      expect([turn, answer.status, answer.headers[REPLAYED]]).toEqual([turn, 200, undefined]);
    }
  });
});

test.each(['', '   ', 'x'.repeat(256), 'k\u00e9y'])('the key %j is refused', async (key) => {
  const answer = await send(key, 'PUT', '/v3/components/refused', {});
  expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  expect(answer.body.detail).toContain('Idempotency-Key');
  expect((await api.call('GET', '/v3/components/refused')).status).toBe(404);
});

describe('what is not an outcome', () => {
  test('a body of the wrong type or shape does not use the key up', async () => {
    expect((await send('shape', 'PUT', '/v3/components/shape', '{', {})).status).toBe(400);
    expect((await send('shape', 'PUT', '/v3/components/shape', { nope: 1 })).status).toBe(400);
    const other = await send('shape', 'PUT', '/v3/components/shape', '{}', { 'content-type': 'text/plain' });
    expect(other.status).toBe(415);
    expect((await send('shape', 'PUT', '/v3/components/shape', {})).status).toBe(200);
  });

  test('after a 5xx the request is worked on again', async () => {
    let broken = true;
    const secrets = {
      ...api.deps.secrets,
      list: api.deps.secrets.list,
      put: (...words: Parameters<typeof api.deps.secrets.put>) =>
        broken && words[0] === 'fails' ? Promise.reject(new Error('away')) : api.deps.secrets.put(...words),
    };
    const other = await createTestApi({ db: api.deps.db, secrets });
    const put = () => other.call('PUT', '/api/v1/secrets/fails/k', { value: 'v' }, { 'idempotency-key': 'once' });
    expect((await put()).status).toBe(500);
    broken = false;
    expect((await put()).status).toBe(204);
    expect((await put()).headers[REPLAYED]).toBe('true');
    await other.close();
  });
});

test('an upload with a key is refused, since its file could not be compared', async () => {
  const { status, body } = await upload(api, '/api/v1/images?name=twice', smallTar(), { 'idempotency-key': 'upload' });
  expect([status, body.code]).toEqual([400, 'bad_request']);
  expect(body.detail).toMatch(/^An upload takes no Idempotency-Key.*: leave the header out/);
  expect((await api.call('GET', '/apis/ims/images')).body).toEqual([]);
});

describe('a process that dies before it has answered', () => {
  /** Takes the answer away, as if the process had died between the effect and the answer. */
  const forget = () =>
    sql`update idempotent_requests set answer_head = null, answer_body = null`.execute(api.database.db);
  const later = (seconds: number) => {
    api.now.value = new Date(api.now.value.getTime() + seconds * 1_000);
  };

  test('a session that it has made is answered', async () => {
    const first = await send('crash', 'POST', '/v3/sessions', session('crash'));
    await forget();
    later(30);
    const again = await send('crash', 'POST', '/v3/sessions', session('crash'));
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers[REPLAYED]).toBeUndefined();
    expectReplay(await send('crash', 'POST', '/v3/sessions', session('crash')), again);
  });

  test('a session that it has made is answered, though it is deleted since, and is not made again', async () => {
    const first = await send('gone', 'POST', '/v3/sessions', session('gone'));
    await api.call('DELETE', '/v3/sessions/gone');
    await forget();
    later(30);
    const again = await send('gone', 'POST', '/v3/sessions', session('gone'));
    expect([again.status, again.body.name]).toEqual([201, first.body.name]);
    expect((await api.call('GET', '/v3/sessions/gone')).status).toBe(404);
  });

  test('an image, a key and an image job that it has made are answered, and not made again', async () => {
    await ableWorker(api);
    const ims = (path: string, body: object) => send(path, 'POST', `/apis/ims/${path}`, body);
    const artifact_id = await importedImage(api);
    const image = { name: 'crashed' };
    const key = { name: 'crashed', public_key: PUBLIC_KEY };
    const made = [await ims('images', image), await ims('public-keys', key)];
    const job = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id: made[1]?.body.id };
    made.push(await ims('jobs', job));
    await forget();
    later(30);
    const again = [await ims('images', image), await ims('public-keys', key), await ims('jobs', job)];
    expect(again.map(({ status, body }) => [status, body])).toEqual(made.map(({ body }) => [201, body]));
    for (const [index, path] of ['images', 'public-keys', 'jobs'].entries()) {
      const all: { id: string }[] = (await api.call('GET', `/apis/ims/${path}`)).body;
      expect(all.filter(({ id }) => id === made[index]?.body.id)).toHaveLength(1);
      expect(all.filter(({ id }) => id !== artifact_id)).toHaveLength(1);
    }
  });

  test('an image job that another try is about to make is answered, and not made again', async () => {
    const artifact_id = await importedImage(api, 'raced');
    const key = await api.call('POST', '/apis/ims/public-keys', { name: 'raced', public_key: PUBLIC_KEY });
    const wanted = { job_type: 'customize', image_root_archive_name: 'raced', artifact_id, public_key_id: key.body.id };
    const by = { actor: null, operation: randomUUID() };
    const job = ImageJobCreateSchema.parse(wanted);
    const [one, other] = await Promise.all([createImageJob(api.deps, by, job), createImageJob(api.deps, by, job)]);
    expect([one.id, other]).toEqual([by.operation, one]);
  });

  test('a source that it has made is answered', async () => {
    const body = { name: 'crashed', clone_url: 'u', credentials: { username: 'u', password: 'p' } };
    const first = await send('source', 'POST', '/v3/sources', body);
    await forget();
    later(30);
    const again = await send('source', 'POST', '/v3/sources', body);
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  test("somebody else's session of that name is a conflict all the same", async () => {
    await api.call('POST', '/v3/sessions', session('theirs'));
    const first = await send('mine', 'POST', '/v3/sessions', session('theirs'));
    expect(first.status).toBe(409);
    await forget();
    later(30);
    expect((await send('mine', 'POST', '/v3/sessions', session('theirs'))).status).toBe(409);
  });

  test('while it may live, the next one waits and is then told to come again', async () => {
    await send('slow', 'PUT', '/v3/components/slow', {});
    await forget();
    const answer = await send('slow', 'PUT', '/v3/components/slow', {});
    expect([answer.status, answer.body.code]).toEqual([409, 'request_in_progress']);
    expect(answer.headers['retry-after']).toBeDefined();
    later(30);
    expect((await send('slow', 'PUT', '/v3/components/slow', {})).status).toBe(200);
  });
});

describe('what is stored', () => {
  test('shows neither bodies nor answers, nor lets a password be guessed', async () => {
    const body = { name: 'hidden', clone_url: 'u', credentials: { username: 'u', password: 'hunter2' } };
    await send('hidden', 'POST', '/v3/sources', body);
    const { rows } = await sql<{ row: string }>`
      select row_to_json(r)::text as row from idempotent_requests r`.execute(api.database.db);
    const plain = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) {
      expect(row).not.toContain(plain);
      expect(row).not.toContain(Buffer.from('hidden').toString('hex'));
    }
    const names = (await api.call('GET', '/api/v1/secrets')).body.secrets.map((one: { name: string }) => one.name);
    expect(names).toContain('muster-idempotency');
  });

  test('an answer survives a change of process', async () => {
    const first = await send('process', 'PUT', '/v3/components/process', {});
    const other = await createTestApi({ db: api.deps.db, secrets: api.deps.secrets });
    const again = await other.call('PUT', '/v3/components/process', {}, { 'idempotency-key': 'process' });
    expectReplay(again, first);
    await other.close();
  });

  test('a process that knows an old seal reads the new one', async () => {
    await send('seal', 'PUT', '/v3/components/seal', {});
    await api.deps.secrets.put('muster-idempotency', 'key', 'ab'.repeat(32));
    const other = await createTestApi({ db: api.deps.db, secrets: api.deps.secrets });
    const first = await other.call('PUT', '/v3/components/seal2', {}, { 'idempotency-key': 'seal2' });
    expectReplay(await send('seal2', 'PUT', '/v3/components/seal2', {}), first);
    await other.close();
  });
});

test('goes when it is older than 24 h', async () => {
  await send('old', 'PUT', '/v3/components/old', {});
  const count = async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from idempotent_requests`.execute(api.database.db);
    return rows[0]?.n ?? 0;
  };
  const clock = () => new Date(api.now.value.getTime() + 49 * 3_600_000);
  await createAnswerOnce({ ...api.deps, clock: () => api.now.value }).sweep();
  expect(await count()).toBeGreaterThan(0);
  await createAnswerOnce({ ...api.deps, clock }).sweep();
  expect(await count()).toBe(0);
});
