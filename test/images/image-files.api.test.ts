/** Import and export of the files of images, and what stays on the disk. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KyselyPlugin } from 'kysely';
import { importImage } from '../../control/images/import-image.ts';
import { openImageDirectory } from '../../drivers/image-files/image-directory.ts';
import { createTestApi, IMAGE_STORE, type TestApi } from '../support/stack/test-api.ts';
import { importedImage, smallTar, smallTarGz, upload } from './fixtures.ts';

let api: TestApi;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-images-'));
  api = await createTestApi({ imageFiles: await openImageDirectory(dir, IMAGE_STORE) });
});
afterAll(async () => {
  await api.close();
  await rm(dir, { recursive: true });
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test.each([
  ['tar', smallTar('long '.repeat(400)).subarray(0, 1_536)],
  ['squashfs', Buffer.concat([Buffer.from('hsqs'), Buffer.alloc(600, 1)])],
])('a %s of which a part is missing is refused, and leaves nothing', async (format, bytes) => {
  const { status, body } = await upload(api, '/api/v1/images?name=cut', bytes);
  expect([status, body]).toEqual([400, expect.objectContaining({ code: 'image_archive_invalid' })]);
  expect(body.detail).toBe(`The ${format} ends too early: a part of the file is missing`);
  expect(await readdir(join(dir, 'incoming'))).toEqual([]);
});

test.each([
  ['tar', smallTar()],
  ['tar.gz', smallTarGz()],
  ['squashfs', Buffer.concat([Buffer.from('hsqs'), Buffer.alloc(9_000)])],
])('a %s comes in, is shown, and goes out as it came', async (format, bytes) => {
  const { status, body } = await upload(api, '/api/v1/images?name=a/../b&arch=aarch64', bytes);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    created: '2026-11-21T10:00:00Z',
    name: 'a/../b',
    arch: 'aarch64',
    link: { type: 'file', path: `images/${body.id}/manifest.json`, etag: expect.stringMatching(/^[0-9a-f]{32}$/) },
    metadata: {},
    format,
    size: bytes.length,
    sha256: sha256(bytes),
    made_by: null,
    made_from: null,
  });
  expect((await api.call('GET', `/api/v1/images/${body.id}`)).body).toEqual(body);
  const out = await api.app.inject({ method: 'GET', url: `/api/v1/images/${body.id}/content` });
  expect([out.statusCode, out.headers['content-length'], out.headers['content-type']]).toEqual([
    200,
    String(bytes.length),
    'application/octet-stream',
  ]);
  expect(sha256(out.rawPayload)).toBe(sha256(bytes));
  const head = await api.app.inject({ method: 'HEAD', url: `/api/v1/images/${body.id}/content` });
  const told = ['content-length', 'content-type', 'content-disposition', 'etag'];
  const [by, of] = [head, out].map(({ headers }) => told.map((name) => headers[name]));
  expect([head.statusCode, by, head.rawPayload.length]).toEqual([200, of, 0]);
  const manifest = JSON.parse(await readFile(join(dir, body.link.path), 'utf8'));
  const md5 = createHash('md5').update(bytes).digest('hex');
  expect(manifest).toEqual({
    version: '1.0',
    created: '2026-11-21T10:00:00.000Z',
    artifacts: [
      {
        link: { type: 'file', path: `images/${body.id}/rootfs.${format}`, etag: md5 },
        md5,
        sha256: sha256(bytes),
        size: bytes.length,
        type: expect.stringContaining('rootfs'),
      },
    ],
  });
  expect((await api.call('DELETE', `/api/v1/images/${body.id}`)).status).toBe(204);
  expect(await readdir(join(dir, 'images'))).toEqual([]);
});

describe('what is refused leaves nothing', () => {
  test.each<[string, string, Buffer, number, string]>([
    ['another kind of file', 'name=a', Buffer.from('#!/bin/sh\n'.repeat(100)), 422, 'image_format_unknown'],
    ['nothing at all', 'name=a', Buffer.of(), 422, 'image_format_unknown'],
    ['too much', 'name=a', Buffer.concat([smallTar(), Buffer.alloc(2 ** 20)]), 413, 'image_too_large'],
    ['another checksum', `name=a&sha256=${'0'.repeat(64)}`, smallTar(), 422, 'image_checksum_wrong'],
    ['a checksum that is none', 'name=a&sha256=x', smallTar(), 400, 'bad_request'],
    ['no name', '', smallTar(), 400, 'bad_request'],
    ['a name that cannot be stored', 'name=a%00b', smallTar(), 400, 'bad_request'],
    ['another architecture', 'name=a&arch=sparc', smallTar(), 400, 'bad_request'],
  ])('%s', async (_what, query, bytes, status, code) => {
    const answer = await upload(api, `/api/v1/images?${query}`, bytes);
    expect(answer.body).toMatchObject({ status, code });
    expect([await readdir(join(dir, 'images')), await readdir(join(dir, 'incoming'))]).toEqual([[], []]);
    expect((await api.call('GET', '/api/v1/images')).body.images).toEqual([]);
  });
});

test('lists page by name', async () => {
  const ids = [await importedImage(api, 'b'), await importedImage(api, 'a'), await importedImage(api, 'a')];
  const seen: string[] = [];
  let query: string | null = 'limit=1';
  while (query !== null) {
    const { body } = await api.call('GET', `/api/v1/images?${query}`);
    seen.push(...body.images.map(({ name }: { name: string }) => name));
    query = body.next === null ? null : new URLSearchParams(body.next).toString();
  }
  expect(seen).toEqual(['a', 'a', 'b']);
  for (const id of ids) await api.call('DELETE', `/api/v1/images/${id}`);
});

describe('pages of a list', () => {
  const page = async (query: Record<string, unknown>) =>
    (await api.call('GET', `/api/v1/images?${new URLSearchParams(query as Record<string, string>)}`)).body;
  const names = ({ images }: { images: { name: string }[] }) => images.map(({ name }) => name);

  test('go on where they were, also after the image at the end of one was removed or is new', async () => {
    const ids = new Map<string, string>();
    for (const name of ['a', 'b/ä %', 'c', 'd']) ids.set(name, await importedImage(api, name));
    const first = await page({ limit: 2 });
    expect(names(first)).toEqual(['a', 'b/ä %']);
    await api.call('DELETE', `/api/v1/images/${ids.get('b/ä %')}`);
    ids.set('b', await importedImage(api, 'b'));
    const second = await page(first.next);
    expect([names(second), second.next]).toEqual([['c', 'd'], null]);
    for (const id of ids.values()) await api.call('DELETE', `/api/v1/images/${id}`);
  });

  test.each([
    'x',
    '11111111-1111-4111-8111-111111111111',
    '11111111-1111-4111-8111-111111111111-',
    `-${'a'.repeat(40)}`,
  ])('have no place %j', async (after_id) => {
    const answer = await api.call('GET', `/api/v1/images?after_id=${after_id}`);
    expect(answer.body).toMatchObject({ status: 400, code: 'bad_request' });
    expect(answer.body.detail).toContain('must be the after_id of a page before');
  });
});

test('an import of which the database gives no answer keeps its file: the record may be made', async () => {
  const silent: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    // What is read first is answered; the word about the record is lost.
    transformResult: async ({ result }) => {
      if (result.numAffectedRows === undefined) return result;
      throw new Error('Connection terminated unexpectedly');
    },
  };
  const settings = { maxBytes: 2 ** 20, keepFree: 0, dkms: false };
  const imageFiles = await openImageDirectory(dir, IMAGE_STORE);
  const bytes = smallTar();
  const deps = { ...api.deps, db: api.deps.db.withPlugin(silent), imageFiles, imageSettings: settings };
  const given = { name: 'unanswered', arch: 'x86_64' } as const;
  await expect(importImage(deps, { actor: null }, given, Readable.from([bytes]))).rejects.toThrow('terminated');
  const { id } = await api.deps.db
    .selectFrom('images')
    .select('id')
    .where('name', '=', given.name)
    .executeTakeFirstOrThrow();
  const out = await api.app.inject({ method: 'GET', url: `/api/v1/images/${id}/content` });
  expect([out.statusCode, sha256(out.rawPayload)]).toEqual([200, sha256(bytes)]);
  await api.call('DELETE', `/api/v1/images/${id}`);
  expect(await readdir(join(dir, 'images'))).toEqual([]);
});

test('an id in upper case is the same', async () => {
  const bytes = smallTar();
  const id = (await importedImage(api, 'upper', bytes)).toUpperCase();
  const out = await api.app.inject({ method: 'GET', url: `/api/v1/images/${id}/content` });
  expect([out.statusCode, sha256(out.rawPayload)]).toEqual([200, sha256(bytes)]);
  expect((await api.call('DELETE', `/api/v1/images/${id}`)).status).toBe(204);
  expect(await readdir(join(dir, 'images'))).toEqual([]);
});

test('a record without a file has nothing to export, and an id that is none leads nowhere', async () => {
  const { body } = await api.call('POST', '/apis/ims/images', { name: 'elsewhere' });
  expect((await api.call('GET', `/api/v1/images/${body.id}/content`)).body).toMatchObject({
    status: 404,
    code: 'image_file_missing',
  });
  for (const id of ['x', '..%2Fincoming', '%2e%2e']) {
    expect((await api.call('GET', `/api/v1/images/${id}/content`)).status).toBe(404);
  }
  await api.call('DELETE', `/apis/ims/images/${body.id}`);
});

test('a server without a directory of images says so', async () => {
  const without = await createTestApi({ imageFiles: null });
  const answer = await upload(without, '/api/v1/images?name=a', smallTar());
  expect(answer.body).toMatchObject({ status: 503, code: 'image_builder_unavailable' });
  expect(answer.body.detail).toContain('MUSTER_IMAGES_DIR');
  await without.close();
});
