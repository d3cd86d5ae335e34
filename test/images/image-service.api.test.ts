/** The contract of the image service, route by route. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findImageJob, moveImageJob } from '../../store/images/image-jobs.ts';
import { insertPublicKey } from '../../store/images/images.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { ableWorker, importedImage, PUBLIC_KEY } from './fixtures.ts';

let api: TestApi;
let told: string[];

beforeAll(async () => {
  api = await createTestApi({
    tell: async (wanted) => {
      told.push(...wanted.map(({ workflowId, signal }) => `${signal?.name ?? 'start'} ${workflowId}`));
    },
  });
});
afterAll(() => api.close());
beforeEach(() => {
  told = [];
});

const NOWHERE = '99999999-9999-4999-8999-999999999999';

async function newKey(): Promise<string> {
  return (await api.call('POST', '/apis/ims/public-keys', { name: 'k', public_key: PUBLIC_KEY })).body.id;
}

async function newJob(more: object = {}) {
  await ableWorker(api);
  const [artifact_id, public_key_id] = [await importedImage(api), await newKey()];
  const body = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id, ...more };
  return api.call('POST', '/apis/ims/jobs', body);
}

describe.each(['/apis/ims', '/apis/ims/v2'])('below %s', (base) => {
  test('images are made, read, changed and removed', async () => {
    const link = { type: 's3', path: 's3://boot-images/a/manifest.json' };
    const made = await api.call('POST', `${base}/images`, { name: 'compute', link, metadata: { a: '1' } });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      created: '2026-11-21T10:00:00Z',
      name: 'compute',
      link: { ...link, etag: '' },
      arch: 'x86_64',
      metadata: { a: '1' },
    });
    const path = `${base}/images/${made.body.id}`;
    expect((await api.call('GET', path)).body).toEqual(made.body);
    expect((await api.call('GET', `${base}/images`)).body).toContainEqual(made.body);
    const set = { metadata: { operation: 'set', key: 'b', value: '2' }, arch: 'aarch64' };
    expect((await api.call('PATCH', path, set)).body).toMatchObject({ arch: 'aarch64', metadata: { a: '1', b: '2' } });
    const remove = { metadata: { operation: 'remove', key: 'a' }, link: { ...link, etag: 'e' } };
    expect((await api.call('PATCH', path, remove)).body).toMatchObject({ metadata: { b: '2' }, link: { etag: 'e' } });
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call('DELETE', path)).body).toMatchObject({ status: 404, code: 'image_not_found' });
  });

  test('public keys are made, read and removed', async () => {
    const made = await api.call('POST', `${base}/public-keys`, { name: 'cfs_s', public_key: PUBLIC_KEY });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      created: '2026-11-21T10:00:00Z',
      name: 'cfs_s',
      public_key: PUBLIC_KEY,
    });
    const path = `${base}/public-keys/${made.body.id}`;
    expect((await api.call('GET', path)).body).toEqual(made.body);
    expect((await api.call('GET', `${base}/public-keys`)).body).toContainEqual(made.body);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('DELETE', path)).body).toMatchObject({ status: 404, code: 'image_key_not_found' });
    expect((await api.call('GET', path)).status).toBe(404);
  });

  test('a job has the defaults, and is read, listed and deleted', async () => {
    await ableWorker(api);
    const [artifact_id, public_key_id] = [await importedImage(api), await newKey()];
    const body = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id };
    const made = await api.call('POST', `${base}/jobs`, body);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      created: '2026-11-21T10:00:00Z',
      ...body,
      ssh_containers: [{ name: 'customize', jail: false, status: 'pending', connection_info: null }],
      enable_debug: false,
      build_env_size: 60,
      job_mem_size: 8,
      kernel_file_name: 'vmlinuz',
      initrd_file_name: 'initrd',
      kernel_parameters_file_name: 'kernel-parameters',
      require_dkms: true,
      arch: 'x86_64',
      status: 'creating',
      message: '',
      resultant_image_id: null,
      kubernetes_job: '',
      kubernetes_service: '',
      kubernetes_configmap: '',
      kubernetes_pvc: '',
      kubernetes_namespace: '',
      kubernetes_secret: '',
      remote_build_node: '',
    });
    expect((await findImageJob(api.deps.db, made.body.id))?.format).toBe('tar');
    const path = `${base}/jobs/${made.body.id}`;
    expect((await api.call('GET', path)).body).toEqual(made.body);
    expect((await api.call('GET', `${base}/jobs`)).body).toContainEqual(made.body);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('GET', path)).body).toMatchObject({ status: 404, code: 'image_job_not_found' });
    expect((await api.call('DELETE', path)).status).toBe(404);
    expect(told).toEqual([`start image-job/${made.body.id}`, `endImageJob image-job/${made.body.id}`]);
  });
});

describe('a body that is wrong', () => {
  test.each<[string, string, unknown]>([
    ['unknown field', '/images', { name: 'a', size: 1 }],
    ['no name', '/images', {}],
    ['empty name', '/images', { name: '' }],
    ['unknown arch', '/images', { name: 'a', arch: 'sparc' }],
    ['link without path', '/images', { name: 'a', link: { type: 's3' } }],
    ['no object', '/images', []],
    ['empty key', '/public-keys', { name: 'a', public_key: '' }],
    ['no key', '/public-keys', { name: 'a' }],
    ['unknown field', '/public-keys', { name: 'a', public_key: 'k', more: true }],
    ['nothing of a job', '/jobs', {}],
    ['id that is none', '/jobs', { ...job(), artifact_id: 'x' }],
    ['unknown type', '/jobs', { ...job(), job_type: 'build' }],
    ['size below 1', '/jobs', { ...job(), build_env_size: 0 }],
    ['memory below 1', '/jobs', { ...job(), job_mem_size: 0 }],
    ['two ssh containers', '/jobs', { ...job(), ssh_containers: [{ name: 'a' }, { name: 'b' }] }],
    ['unknown field of a container', '/jobs', { ...job(), ssh_containers: [{ name: 'a', port: 22 }] }],
    ['path as file name', '/jobs', { ...job(), kernel_file_name: '../../etc/shadow' }],
    ['unknown field of a job', '/jobs', { ...job(), debug: true }],
  ])('%s is 422 at %s', async (_what, path, body) => {
    const answer = await api.call('POST', `/apis/ims${path}`, body);
    expect(answer.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  test.each([
    ['options', `command="id" ${PUBLIC_KEY}`, 'options before the type'],
    ['a second key', `${PUBLIC_KEY}\n${PUBLIC_KEY}`, 'more than one line'],
    ['a text that is no key', 'k', 'known type of key'],
  ])('a public key with %s is refused by its member, and nothing is stored', async (_what, public_key, words) => {
    const before = (await api.call('GET', '/apis/ims/public-keys')).body.length;
    const answer = await api.call('POST', '/apis/ims/public-keys', { name: 'odd', public_key });
    expect(answer.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    expect(answer.body.detail).toContain(words);
    expect(answer.body.detail).toContain("- 'public_key'");
    expect((await api.call('GET', '/apis/ims/public-keys')).body).toHaveLength(before);
  });

  test.each(['/images', '/public-keys', '/jobs'])('none is 400 at %s, and so is one that is no JSON', async (path) => {
    const headers = { 'content-type': 'application/json' };
    expect((await api.call('POST', `/apis/ims${path}`, '', headers)).status).toBe(400);
    expect((await api.call('POST', `/apis/ims${path}`, '{', headers)).body).toMatchObject({ code: 'body_not_json' });
  });

  test('a patch without what it needs', async () => {
    const id = await importedImage(api);
    const set = await api.call('PATCH', `/apis/ims/images/${id}`, { metadata: { operation: 'set', key: 'a' } });
    expect(set.body).toMatchObject({ status: 422, code: 'image_request_invalid' });
    const named = await api.call('PATCH', `/apis/ims/images/${id}`, { name: 'other' });
    expect(named.status).toBe(422);
  });

  test('a link to files of Muster itself', async () => {
    const link = { type: 'file', path: 'images/../../secret.key' };
    expect((await api.call('POST', '/apis/ims/images', { name: 'a', link })).body).toMatchObject({
      status: 400,
      code: 'image_reference_unknown',
    });
  });
});

function job() {
  const id = randomUUID();
  return { job_type: 'customize', image_root_archive_name: 'out', artifact_id: id, public_key_id: id };
}

describe('a job is refused', () => {
  test('for an image that is not there', async () => {
    const answer = await newJob({ artifact_id: NOWHERE });
    expect(answer.body).toMatchObject({ status: 400, code: 'image_reference_unknown' });
    expect(answer.body.detail).toContain("- 'artifact_id'");
  });

  test('for a key that is not there, and for one that is none', async () => {
    expect((await newJob({ public_key_id: NOWHERE })).body.detail).toContain("- 'public_key_id'");
    // A release of before stored what it was given.
    const row = {
      id: randomUUID(),
      name: 'k',
      public_key: 'command="x" ssh-rsa AAAA',
      created_at: new Date(),
      actor: null,
    };
    await insertPublicKey(api.database.db, row);
    expect((await newJob({ public_key_id: row.id })).body).toMatchObject({
      status: 400,
      code: 'image_reference_unknown',
    });
  });

  test('for an image without a file, and for a recipe', async () => {
    const { body } = await api.call('POST', '/apis/ims/images', { name: 'elsewhere' });
    expect((await newJob({ artifact_id: body.id })).body.detail).toContain('has no file here');
    expect((await newJob({ job_type: 'create' })).body).toMatchObject({ status: 400, code: 'image_reference_unknown' });
  });

  test('where no machine can do it, with the reason', async () => {
    const [artifact_id, public_key_id] = [await importedImage(api), await newKey()];
    const body = { job_type: 'customize', image_root_archive_name: 'out', artifact_id, public_key_id };
    await ableWorker(api, { able: false, reason: 'unsquashfs is missing (squashfs-tools)' });
    const unable = await api.call('POST', '/apis/ims/jobs', body);
    expect(unable.body).toMatchObject({ status: 503, code: 'image_builder_unavailable' });
    expect(unable.body.detail).toContain('unsquashfs is missing');
    await ableWorker(api);
    const before = api.now.value;
    api.now.value = new Date(before.getTime() + 120_000);
    const silent = await api.call('POST', '/apis/ims/jobs', body);
    api.now.value = before;
    expect(silent.body.detail).toContain('no worker has its directory of images');
  });
});

test('the sole ssh container may be named; require_dkms of the request counts', async () => {
  const { body } = await newJob({ ssh_containers: [{ name: 'my-session', jail: true }], require_dkms: false });
  expect(body.ssh_containers).toEqual([{ name: 'my-session', jail: true, status: 'pending', connection_info: null }]);
  expect(body.require_dkms).toBe(false);
});

test('an image that a job is about to unpack cannot be removed', async () => {
  const { body } = await newJob();
  const path = `/apis/ims/images/${body.artifact_id}`;
  const refused = (await api.call('DELETE', path)).body;
  expect(refused).toMatchObject({ status: 409, code: 'image_in_use' });
  expect(refused.detail).toContain(`image job ${body.id}: wait until that is done, or delete the job`);
  await api.call('DELETE', `/apis/ims/jobs/${body.id}`);
  expect((await api.call('DELETE', path)).status).toBe(204);
});

test('a patch sets an open job to error and nothing else', async () => {
  const { body } = await newJob();
  const path = `/apis/ims/jobs/${body.id}`;
  expect((await api.call('PATCH', path, { status: 'creating' })).body).toEqual(body);
  expect((await api.call('PATCH', path, {})).status).toBe(200);
  expect((await api.call('PATCH', path, { status: 'success' })).body).toMatchObject({ code: 'image_job_status' });
  expect((await api.call('PATCH', path, { resultant_image_id: NOWHERE })).status).toBe(400);
  expect((await api.call('PATCH', path, { resultant_image_id: body.artifact_id })).status).toBe(409);
  expect((await api.call('PATCH', path, { status: 'done' })).status).toBe(422);
  expect((await api.call('PATCH', path, { status: 'error' })).body).toMatchObject({ status: 'error' });
  expect(told).toContain(`endImageJob image-job/${body.id}`);
  expect((await api.call('PATCH', path, { status: 'error' })).status).toBe(200);
  expect((await api.call('PATCH', `/apis/ims/jobs/${NOWHERE}`, {})).status).toBe(404);
});

test('a job that is ended by its id in upper case is told so by its own', async () => {
  const { body } = await newJob();
  const path = `/apis/ims/jobs/${body.id.toUpperCase()}`;
  expect((await api.call('PATCH', path, { status: 'error' })).body).toMatchObject({ id: body.id, status: 'error' });
  expect(told.filter((word) => word.startsWith('end'))).toEqual([`endImageJob image-job/${body.id}`]);
});

describe('the bulk delete', () => {
  test.each([
    ['status=error', ['b']],
    ['status=creating', ['a']],
    ['job_type=customize', ['a', 'b']],
    ['job_type=create', []],
    ['age=1h', []],
    ['age=0m', ['a', 'b']],
    ['status=error&age=0m', ['b']],
    ['', ['a', 'b']],
  ])('with %j', async (query, gone) => {
    await api.call('DELETE', '/apis/ims/jobs');
    const jobs = { a: (await newJob()).body.id, b: (await newJob()).body.id };
    await moveImageJob(api.deps.db, jobs.b, 'error', { message: 'why', ended_at: api.now.value });
    expect((await api.call('DELETE', `/apis/ims/jobs?${query}`)).status).toBe(204);
    const left = (await api.call('GET', '/apis/ims/jobs')).body.map(({ id }: { id: string }) => id);
    const expected = Object.entries(jobs).flatMap(([name, id]) => (gone.includes(name) ? [] : [id]));
    expect(left.sort()).toEqual(expected.sort());
  });

  test.each(['status=done', 'age=x', 'age=5', 'job_type=x'])('with %s is 400 and deletes nothing', async (query) => {
    const { body } = await newJob();
    expect((await api.call('DELETE', `/apis/ims/jobs?${query}`)).status).toBe(400);
    expect((await api.call('GET', `/apis/ims/jobs/${body.id}`)).status).toBe(200);
  });
});

test.each(['images', 'public-keys', 'jobs'])('an id of %s that is none is not found', async (kind) => {
  for (const id of ['x', NOWHERE, '..%2F..%2Fetc', `${'9'.repeat(500)}`]) {
    expect((await api.call('GET', `/apis/ims/${kind}/${id}`)).status).toBe(404);
    expect((await api.call('DELETE', `/apis/ims/${kind}/${id}`)).status).toBe(404);
  }
});
