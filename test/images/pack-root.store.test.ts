/** Unpacking and packing for a job that changes meanwhile: what the records say, and what files stay. The builder says what is told to it. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ImageWorkDependencies } from '../../activities/images/machine-work.ts';
import { packRoot } from '../../activities/images/pack-root.ts';
import { unpackRoot } from '../../activities/images/unpack-root.ts';
import { newImage } from '../../control/images/create-image.ts';
import { musterError } from '../../domain/errors.ts';
import { openImageDirectory } from '../../drivers/image-files/image-directory.ts';
import { readInstallationId } from '../../store/connection/installation.ts';
import { findImageJob, type ImageJobRow, markImageJobsDeleted, moveImageJob } from '../../store/images/image-jobs.ts';
import { deleteImage, findImage, insertImage } from '../../store/images/images.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

const never = new AbortController().signal;
const CONTENT = 'the new root';
const clock = () => new Date('2026-11-21T10:00:00Z');
let database: TestDatabase;
let storeId: string;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  storeId = randomUUID();
  dir = await mkdtemp(join(tmpdir(), 'muster-pack-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** A machine whose builder packs `CONTENT` after `meanwhile`. */
async function machine(meanwhile: () => Promise<unknown> = async () => undefined) {
  const did: string[] = [];
  const imageBuilder = {
    close: async () => void did.push('closed'),
    remove: async () => void did.push('removed'),
    free: async () => 1_000,
    unpack: async () => {
      await meanwhile();
      did.push('unpacked');
      return 1;
    },
    pack: async ({ target }: { target: string }) => {
      await meanwhile();
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, CONTENT);
      did.push('packed');
      const sum = (kind: string) => createHash(kind).update(CONTENT).digest('hex');
      return { size: CONTENT.length, md5: sum('md5'), sha256: sum('sha256') };
    },
  };
  const deps = {
    db: database.db,
    clock,
    imageBuilder,
    imageFiles: await openImageDirectory(dir, storeId),
    imageLimits: { working: 1, open: 1, stepSeconds: 60, userSeconds: 60, queueSeconds: 60 },
    minFreeDisk: 100,
    bootFiles: false,
  } as unknown as ImageWorkDependencies;
  return { deps, did };
}

/** A job on an image of this directory, in a status. */
async function jobIn(status: 'fetching_image' | 'packaging_artifacts', size = 10): Promise<ImageJobRow> {
  const job = await newImageJob(database.db, { storeId });
  const image = newImage({ clock }, { actor: null }, 'base', 'x86_64', job.image_id);
  await insertImage(database.db, { ...image, store_id: storeId, format: 'tar', size, metadata: { a: '1' } });
  await database.db.updateTable('image_jobs').set({ status, working: true }).where('id', '=', job.id).execute();
  return job;
}

const recorded = (job: ImageJobRow) => findImageJob(database.db, job.id);
const newOne = (job: ImageJobRow) => findImage(database.db, job.result_id);
const files = async () => ({
  images: await readdir(join(dir, 'images')),
  incoming: await readdir(join(dir, 'incoming')),
});
const fileOf = (job: ImageJobRow) => readFile(join(dir, 'images', job.result_id, 'rootfs.tar'), 'utf8');

describe('packing', () => {
  test('makes the image and the success of the job in one', async () => {
    const job = await jobIn('packaging_artifacts');
    await packRoot((await machine()).deps, job.id, never);
    expect(await recorded(job)).toMatchObject({ status: 'success', resultant_image_id: job.result_id, working: false });
    const metadata = { a: '1' };
    expect(await newOne(job)).toMatchObject({ name: 'new', made_by: job.id, made_from: job.image_id, metadata });
    expect(await fileOf(job)).toBe(CONTENT);
  });

  test.each(['squashfs', 'tar.gz'] as const)(
    'of an image that was removed meanwhile keeps its format: %s',
    async (format) => {
      const job = await jobIn('packaging_artifacts');
      await database.db.updateTable('image_jobs').set({ format }).where('id', '=', job.id).execute();
      await deleteImage(database.db, job.image_id);
      await packRoot((await machine()).deps, job.id, never);
      expect(await newOne(job)).toMatchObject({ format, made_from: job.image_id });
    },
  );

  test.each<[string, (job: ImageJobRow) => Promise<unknown>]>([
    ['is deleted', ({ id }) => markImageJobsDeleted(database.db, { id }, clock())],
    ['ends in error', ({ id }) => moveImageJob(database.db, id, 'error', { message: 'why', ended_at: clock() })],
    ['is forgotten', ({ id }) => database.db.deleteFrom('image_jobs').where('id', '=', id).execute()],
  ])('for a job that %s meanwhile leaves neither image nor file', async (_what, end) => {
    const job = await jobIn('packaging_artifacts');
    await packRoot((await machine(() => end(job))).deps, job.id, never);
    expect(await newOne(job)).toBeNull();
    expect(await files()).toEqual({ images: [], incoming: [] });
    expect((await recorded(job))?.resultant_image_id ?? null).toBeNull();
  });

  test('where the disk is full says so in the record, and is tried again', async () => {
    const job = await jobIn('packaging_artifacts');
    const full = musterError('image_disk_full', 'only 5 bytes are free');
    const { deps } = await machine(() => Promise.reject(full));
    await expect(packRoot(deps, job.id, never)).rejects.toBe(full);
    expect(await recorded(job)).toMatchObject({ status: 'packaging_artifacts', message: 'only 5 bytes are free' });
  });

  test('writes nothing to a directory of another installation, says so in the record, and is tried again', async () => {
    const [mine, other] = [`${await readInstallationId(database.db)}\n`, `${randomUUID()}\n`];
    const claim = join(dir, 'installation-id');
    const job = await jobIn('packaging_artifacts');
    const refusal = {
      code: 'image_service_unavailable',
      detail: expect.stringContaining('belongs to the installation'),
    };
    const { deps, did } = await machine(() => writeFile(claim, other));
    await expect(packRoot(deps, job.id, never)).rejects.toMatchObject(refusal);
    expect(did).toEqual(['closed', 'packed']);
    await expect(packRoot(deps, job.id, never)).rejects.toMatchObject(refusal);
    expect(did).toEqual(['closed', 'packed']);
    expect((await files()).images).toEqual([]);
    expect(await recorded(job)).toMatchObject({
      status: 'packaging_artifacts',
      message: expect.stringMatching(/^The new image cannot be kept: .*installation-id$/),
    });
    await writeFile(claim, mine);
    await packRoot((await machine()).deps, job.id, never);
    expect(await recorded(job)).toMatchObject({ status: 'success', message: '' });
  });

  test('again, after an earlier try has recorded the image meanwhile, leaves that as it is', async () => {
    const job = await jobIn('packaging_artifacts');
    const earlier = (await machine()).deps;
    const { deps } = await machine(() => packRoot({ ...earlier, clock: () => new Date(0) }, job.id, never));
    await packRoot(deps, job.id, never);
    expect(await recorded(job)).toMatchObject({ status: 'success' });
    expect(await fileOf(job)).toBe(CONTENT);
    const manifest = await readFile(join(dir, 'images', job.result_id, 'manifest.json'));
    // The one that the record speaks of.
    expect((await newOne(job))?.link?.etag).toBe(createHash('md5').update(manifest).digest('hex'));
    expect((await files()).incoming).toEqual([]);
  });

  test('that is begun again while an earlier try keeps its file leaves no success without a file', async () => {
    const job = await jobIn('packaging_artifacts');
    const { deps } = await machine();
    const { imageFiles } = deps;
    const keep: typeof imageFiles.keep = async (file) => {
      await imageFiles.fileForJob(job.id, 'tar');
      return imageFiles.keep(file);
    };
    await expect(packRoot({ ...deps, imageFiles: { ...imageFiles, keep } }, job.id, never)).rejects.toThrow('bytes');
    expect(await recorded(job)).toMatchObject({ status: 'packaging_artifacts', resultant_image_id: null });
    expect(await files()).toEqual({ images: [], incoming: [] });
    await packRoot(deps, job.id, never);
    expect(await recorded(job)).toMatchObject({ status: 'success' });
    expect(await fileOf(job)).toBe(CONTENT);
  });

  test('again, after the image that came of it was removed, makes nothing', async () => {
    const job = await jobIn('packaging_artifacts');
    const { deps, did } = await machine();
    await packRoot(deps, job.id, never);
    await deleteImage(database.db, job.result_id);
    await packRoot(deps, job.id, never);
    expect([await newOne(job), did]).toEqual([null, ['closed', 'packed']]);
  });

  test('that is called off while it packs records nothing', async () => {
    const job = await jobIn('packaging_artifacts');
    const off = new AbortController();
    const { deps } = await machine(async () => off.abort(new Error('called off')));
    await expect(packRoot(deps, job.id, off.signal)).rejects.toThrow('called off');
    expect([await newOne(job), (await files()).images]).toEqual([null, []]);
  });
});

describe('unpacking', () => {
  test('is for a job that waits for it, and removes what was there before', async () => {
    const job = await jobIn('fetching_image');
    const { deps, did } = await machine();
    await unpackRoot(deps, job.id, never);
    expect(did).toEqual(['removed', 'unpacked']);
    const done = await jobIn('packaging_artifacts');
    await unpackRoot(deps, done.id, never);
    await markImageJobsDeleted(database.db, { id: job.id }, clock());
    await unpackRoot(deps, job.id, never);
    expect(did).toEqual(['removed', 'unpacked']);
  });

  test('for a job that ends meanwhile says nothing about it', async () => {
    const job = await jobIn('fetching_image');
    const end = () => moveImageJob(database.db, job.id, 'error', { message: 'why', ended_at: clock() });
    await unpackRoot((await machine(end)).deps, job.id, never);
    expect(await recorded(job)).toMatchObject({ status: 'error', message: 'why' });
  });

  test('begins only where there is room, and says so in the record', async () => {
    const job = await jobIn('fetching_image', 901);
    const { deps, did } = await machine();
    await expect(unpackRoot(deps, job.id, never)).rejects.toMatchObject({ code: 'image_disk_full' });
    expect((await recorded(job))?.message).toContain('1001 are needed');
    expect(did).toEqual(['removed']);
  });

  test('that fails leaves nothing on the disk until the next try, and says that it was full', async () => {
    const job = await jobIn('fetching_image');
    const full = musterError('image_disk_full', 'only 5 bytes are free');
    const { deps, did } = await machine(() => Promise.reject(full));
    await expect(unpackRoot(deps, job.id, never)).rejects.toBe(full);
    expect(did).toEqual(['removed', 'removed']);
    expect((await recorded(job))?.message).toBe('only 5 bytes are free');
  });

  test('that is broken off leaves what is there to whoever did that', async () => {
    const job = await jobIn('fetching_image');
    const over = new AbortController();
    const { deps, did } = await machine(async () => {
      over.abort();
      over.signal.throwIfAborted();
    });
    await expect(unpackRoot(deps, job.id, over.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(did).toEqual(['removed']);
  });

  test('needs the file on this machine', async () => {
    const job = await jobIn('fetching_image');
    await database.db.updateTable('images').set({ store_id: randomUUID() }).where('id', '=', job.image_id).execute();
    const { deps } = await machine();
    await expect(unpackRoot(deps, job.id, never)).rejects.toMatchObject({ code: 'image_file_missing' });
  });
});
