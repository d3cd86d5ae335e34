/** Requests to the image service that are nearly right: what they are answered, and that they change nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTell } from '../../control/temporal/tell.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { answeringClient } from '../support/temporal/told.ts';
import { ableWorker, importedImage, PUBLIC_KEY } from './fixtures.ts';

let api: TestApi;
let told: string[];
let answer: (workflowId: string) => Promise<unknown>;
const warnings: Record<string, unknown>[] = [];
beforeAll(async () => {
  const client = answeringClient(({ options }) => answer(options.workflowId));
  api = await createTestApi({
    tell: createTell({ client, log: { warn: (fields) => void warnings.push({ ...fields }) } }),
  });
});
afterAll(() => api.close());
beforeEach(() => {
  told = [];
  answer = async (workflowId) => void told.push(workflowId);
});

async function newJob(): Promise<string> {
  await ableWorker(api);
  const artifact_id = await importedImage(api);
  const key = await api.call('POST', '/apis/ims/public-keys', { name: 'k', public_key: PUBLIC_KEY });
  const body = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id: key.body.id };
  return (await api.call('POST', '/apis/ims/jobs', body)).body.id;
}

/** Open jobs like one that is there, whatever else they name. */
async function manyJobs(count: number): Promise<void> {
  const like = await newJob();
  await sql`
    insert into image_jobs (id, image_id, request, arch, public_key, status, message, store_id, result_id, created_at, cleaned)
    select gen_random_uuid(), image_id, request, arch, public_key, status, message, store_id, gen_random_uuid(), created_at, cleaned
    from image_jobs, generate_series(1, ${count}::int - 1) where id = ${like}
  `.execute(api.deps.db);
}

const jobs = async (): Promise<string[]> =>
  (await api.call('GET', '/apis/ims/jobs')).body.map(({ id }: { id: string }) => id);

describe('an id of no version of UUID', () => {
  const ID = '11111111-1111-1111-1111-111111111111';

  test.each([
    ['artifact_id', { artifact_id: ID }],
    ['public_key_id', { public_key_id: ID }],
  ])('as %s of a job is a reference to nothing', async (field, more) => {
    await ableWorker(api);
    const artifact_id = await importedImage(api);
    const body = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id: ID, ...more };
    const answer = await api.call('POST', '/apis/ims/jobs', body);
    expect(answer.body).toMatchObject({ status: 400, code: 'image_reference_unknown' });
    expect(answer.body.detail).toContain(`- '${field}'`);
  });

  test('as the result of a job too', async () => {
    const answer = await api.call('PATCH', `/apis/ims/jobs/${await newJob()}`, { resultant_image_id: ID });
    expect(answer.body).toMatchObject({ status: 400, code: 'image_reference_unknown' });
  });

  test.each(['images', 'public-keys', 'jobs'])('in the path of %s is not found', async (kind) => {
    expect((await api.call('GET', `/apis/ims/${kind}/${ID}`)).status).toBe(404);
  });
});

describe('no body', () => {
  test.each<[string, string, Record<string, string>]>([
    ['POST', '/apis/ims/images', {}],
    ['POST', '/apis/ims/v2/public-keys', { 'content-length': '0' }],
    ['POST', '/apis/ims/jobs', { 'content-type': 'text/plain' }],
    ['PATCH', `/apis/ims/images/${'1'.repeat(8)}-1111-4111-8111-${'1'.repeat(12)}`, {}],
    ['PATCH', `/apis/ims/jobs/${'1'.repeat(8)}-1111-4111-8111-${'1'.repeat(12)}`, {}],
  ])('is 400 for %s %s with %j', async (method, path, headers) => {
    const answer = await api.call(method, path, undefined, headers);
    expect(answer.body).toMatchObject({ status: 400, code: 'bad_request' });
  });

  test('is something else than a body of another type', async () => {
    const answer = await api.call('POST', '/apis/ims/images', '{"name":"a"}', { 'content-type': 'text/plain' });
    expect(answer.body).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  test('is still a matter of its type in the API of sessions', async () => {
    expect((await api.call('POST', '/v3/sessions', undefined)).status).toBe(415);
  });
});

describe('a body that is JSON and wrong', () => {
  const routes: [string, string][] = [
    ['POST', '/apis/ims/images'],
    ['POST', '/apis/ims/v2/public-keys'],
    ['POST', '/apis/ims/jobs'],
    ['PATCH', `/apis/ims/images/${'1'.repeat(8)}-1111-4111-8111-${'1'.repeat(12)}`],
    ['PATCH', `/apis/ims/jobs/${'1'.repeat(8)}-1111-4111-8111-${'1'.repeat(12)}`],
  ];
  const bodies: [string, string][] = [
    ['null', 'null'],
    ['a long array', JSON.stringify(Array.from({ length: 501 }, () => ({ name: 'a' })))],
    ['a large array', JSON.stringify(Array.from({ length: 600 }, () => ({ name: 'a'.repeat(1_000) })))],
    ['a NUL', '{"name":"\\u0000"}'],
    ['half a surrogate pair', '{"name":"\\ud800"}'],
    ['a large array with a NUL', JSON.stringify(Array.from({ length: 600 }, () => `\0${'a'.repeat(1_000)}`))],
    ['__proto__', '{"name":"a","__proto__":{}}'],
  ];

  test.each(routes.flatMap(([method, path]) => bodies.map(([what, body]) => [method, path, what, body] as const)))(
    'is 422 for %s %s with %s',
    async (method, path, _what, body) => {
      const answer = await api.call(method, path, body);
      expect(answer.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    },
  );

  test.each(['{', '[1,', '', '{"name":"\\x"}'])('is 400 where it is no JSON: %j', async (body) => {
    const answer = await api.call('POST', '/apis/ims/images', body);
    expect(answer.body).toMatchObject({ status: 400 });
  });

  test('is still 400 elsewhere', async () => {
    const answer = await api.call('PATCH', '/v3/options', '{"batch_size":"\\u0000"}');
    expect(answer.body).toMatchObject({ status: 400, code: 'bad_request' });
    const list = JSON.stringify(Array.from({ length: 501 }, () => ({ name: 'a' })));
    expect((await api.call('POST', '/v3/sessions', list)).body).toMatchObject({ status: 400, code: 'bad_request' });
  });
});

describe('the bulk delete of jobs', () => {
  beforeEach(async () => {
    await sql`delete from image_jobs`.execute(api.deps.db);
  });

  test.each(['stauts=error', 'status=error&jobtype=customize', 'Status=error', 'id=1', 'limit=1'])(
    'with the unknown parameter of %j is 400, names it and deletes nothing',
    async (query) => {
      const id = await newJob();
      const answer = await api.call('DELETE', `/apis/ims/jobs?${query}`);
      expect(answer.body).toMatchObject({ status: 400, code: 'bad_request' });
      expect(answer.body.detail).toMatch(/'(stauts|jobtype|Status|id|limit)'/);
      expect(await jobs()).toEqual([id]);
    },
  );

  test('by an age before all time finds nothing', async () => {
    const id = await newJob();
    for (const age of ['999999w', '999999d', '999999h']) {
      expect((await api.call('DELETE', `/apis/ims/jobs?age=${age}`)).status).toBe(204);
    }
    expect(await jobs()).toEqual([id]);
  });

  test('knows no number that is too large', async () => {
    await manyJobs(70_000);
    await sql`update image_jobs set cleaned = true, status = 'error'`.execute(api.deps.db);
    expect((await api.call('DELETE', '/apis/ims/jobs?status=error')).status).toBe(204);
    expect(await jobs()).toEqual([]);
    const left = await api.deps.db.selectFrom('image_jobs').select('id').limit(1).execute();
    expect(left).toEqual([]);
  }, 60_000);

  test('tells the engine of many at once, and waits for it only so long', async () => {
    await manyJobs(100);
    let asked = 0;
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    answer = () => {
      asked += 1;
      return heard;
    };
    // It is answered although Temporal has heard of nothing.
    expect((await api.call('DELETE', '/apis/ims/jobs')).status).toBe(204);
    expect(await jobs()).toEqual([]);
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(100);
    expect(warnings.some(({ untold }) => untold === 100 - asked)).toBe(true);
    expect(warnings.filter(({ err }) => err === 'no answer within 3 s')).toHaveLength(asked);
    hear();
  });

  test('tells the engine of each where it is there', async () => {
    await manyJobs(100);
    const all = (await jobs()).map((id) => `image-job/${id}`);
    told = [];
    expect((await api.call('DELETE', '/apis/ims/jobs')).status).toBe(204);
    expect(told.sort()).toEqual(all.sort());
  });
});

describe('metadata of an image', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));

  test.each<[string, Record<string, string>]>([
    ['an empty key', { '': 'v' }],
    ['a key that is too long', { ['k'.repeat(256)]: 'v' }],
    ['a value that is too long', { k: 'v'.repeat(4_001) }],
    ['too many keys', many(257)],
    ['more than 64 KiB', Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'.repeat(4_000)]))],
    [
      'more than 64 KiB as bytes',
      Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, 'ä'.repeat(4_000)])),
    ],
  ])('with %s is refused when the image is made', async (_what, metadata) => {
    const answer = await api.call('POST', '/apis/ims/images', { name: 'a', metadata });
    expect(answer.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
  });

  test('is as large as is allowed, and then grows no more', async () => {
    const metadata = { ...many(255), ['k'.repeat(255)]: 'v'.repeat(4_000) };
    const made = await api.call('POST', '/apis/ims/images', { name: 'a', metadata });
    expect(made.status).toBe(201);
    const set = (key: string) =>
      api.call('PATCH', `/apis/ims/images/${made.body.id}`, { metadata: { operation: 'set', key, value: 'new' } });
    expect((await set('one more')).body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    expect((await set('k1')).body.metadata.k1).toBe('new');
  });

  test('grows to 64 KiB in all; one of a former release that has more only shrinks', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, 'v'.repeat(4_000)]));
    const made = await api.call('POST', '/apis/ims/images', { name: 'a', metadata });
    expect(made.status).toBe(201);
    const change = (more: object) => api.call('PATCH', `/apis/ims/images/${made.body.id}`, { metadata: more });
    const set = (key: string, value: string) => change({ operation: 'set', key, value });
    const refused = await set('more', 'v'.repeat(4_000));
    expect(refused.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    expect(refused.body.detail).toContain('at most 65536 bytes as JSON');
    expect((await set('more', 'v')).status).toBe(200);
    const old = JSON.stringify({ ...metadata, old: 'v'.repeat(10_000) });
    await sql`update images set metadata = ${old}::jsonb where id = ${made.body.id}`.execute(api.deps.db);
    expect((await set('k1', 'v'.repeat(3_000))).status).toBe(200);
    expect((await set('k1', 'v'.repeat(4_000))).status).toBe(422);
    expect((await change({ operation: 'remove', key: 'old' })).status).toBe(200);
  });
});

/** Sent while it is read, it has no length: as one text it would be more than there can be, or all of the memory. */
describe('a long list is sent while it is read, whole and in order', () => {
  const COUNT = 1_234;
  async function listed(url: string) {
    const answer = await api.app.inject({ method: 'GET', url });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).not.toHaveProperty('content-length');
    const body = JSON.parse(answer.body);
    return Array.isArray(body) ? { records: body, next: null } : { records: body.images, next: body.next };
  }
  const idsOf = (records: { id: string }[]) => records.map(({ id }) => id);

  beforeAll(async () => {
    await sql`delete from image_jobs`.execute(api.deps.db);
    await manyJobs(COUNT);
    // Some at the same moment, some a millionth of a second apart.
    await sql`update image_jobs set created_at = created_at + (extract(microseconds from clock_timestamp())::int % 7) * interval '1 us'`.execute(
      api.deps.db,
    );
    await sql`delete from images`.execute(api.deps.db);
    await sql`delete from image_public_keys`.execute(api.deps.db);
    await sql`
      insert into images (id, name, arch, created_at, updated_at)
      select gen_random_uuid(), 'i' || n % 10, 'x86_64', now(), now() from generate_series(1, ${COUNT}::int) as n`.execute(
      api.deps.db,
    );
    await sql`
      insert into image_public_keys (id, name, public_key, created_at)
      select gen_random_uuid(), 'k' || n % 3, 'key', now() + (n % 5) * interval '1 us'
      from generate_series(1, ${COUNT}::int) as n`.execute(api.deps.db);
  });

  const inOrder = async (table: string, order: string) => {
    const { rows } = await sql.raw<{ id: string }>(`select id from ${table} order by ${order}`).execute(api.deps.db);
    expect(rows).toHaveLength(COUNT);
    return idsOf(rows);
  };

  test('image jobs', async () => {
    const { records } = await listed('/apis/ims/jobs');
    expect(idsOf(records)).toEqual(await inOrder('image_jobs', 'created_at, id'));
  });

  test('images', async () => {
    const { records } = await listed('/apis/ims/images');
    expect(idsOf(records)).toEqual(await inOrder('images', 'name, id'));
  });

  test('public keys', async () => {
    const { records } = await listed('/apis/ims/v2/public-keys');
    expect(idsOf(records)).toEqual(await inOrder('image_public_keys', 'name, created_at, id'));
  });

  test('pages of images', async () => {
    const first = await listed('/api/v1/images?limit=1000');
    expect(first.next).toMatchObject({ limit: 1000 });
    const query = new URLSearchParams({ limit: '500', after_id: first.next.after_id });
    const second = await listed(`/api/v1/images?${query}`);
    expect(second.next).toBeNull();
    expect(idsOf([...first.records, ...second.records])).toEqual(await inOrder('images', 'name, id'));
    const exact = await listed(`/api/v1/images?limit=${COUNT}`);
    expect([exact.records.length, exact.next]).toEqual([COUNT, null]);
  });
});
