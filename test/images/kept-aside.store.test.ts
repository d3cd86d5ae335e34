/** Files of images that no record names: whose directory it is, what is set aside for a while, and what comes back. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cleanImageHost } from '../../activities/images/clean-machine.ts';
import { createAnnouncement } from '../../control/images/announce-machine.ts';
import { newImage } from '../../control/images/create-image.ts';
import { deleteImage } from '../../control/images/delete-image.ts';
import { foreignDirectory } from '../../control/images/foreign-directory.ts';
import { importImage } from '../../control/images/import-image.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { openImageDirectory } from '../../drivers/image-files/image-directory.ts';
import type { Db } from '../../store/connection/database.ts';
import { readInstallationId } from '../../store/connection/installation.ts';
import { listImageWorkers, liveImageQueues } from '../../store/images/image-jobs.ts';
import { insertImage } from '../../store/images/images.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { smallTar } from './fixtures.ts';

const DAY = 24 * 3_600_000;
const STORE = randomUUID();
let own: TestDatabase;
let other: TestDatabase;
let dir: string;
let files: ImageFiles;
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => void warnings.push(message), info: () => undefined };

beforeAll(async () => {
  [own, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  // Both come of one template, so they would be one installation.
  await other.db.updateTable('installation').set({ id: randomUUID() }).execute();
});
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-kept-aside-'));
  files = await openImageDirectory(dir, STORE);
  warnings.length = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));
afterAll(() => Promise.all([own.close(), other.close()]));

const clock = () => new Date();
const clean = (db = own.db, given: Partial<ImageFiles> = {}) =>
  cleanImageHost({
    db,
    imageFiles: { ...files, ...given },
    imageBuilder: createImageBuilder({ jobsDir: join(dir, 'jobs') }),
    minFreeDisk: 100,
    log,
  });
const named = (where: string) => readdir(join(dir, where)).catch(() => []);

/** A file of an image that nobody has touched for so long. */
async function oldImage(where: 'images' | 'lost', ageMs: number, id: string = randomUUID()): Promise<string> {
  const folder = join(dir, where, id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'rootfs.tar'), smallTar());
  const then = new Date(Date.now() - ageMs);
  for (const path of [join(folder, 'rootfs.tar'), folder]) await utimes(path, then, then);
  return id;
}
/** The record of an image whose file is in the directory. */
async function record(db: Db, id: string): Promise<void> {
  const row = newImage({ clock }, { actor: null }, 'base', 'x86_64', id);
  await insertImage(db, { ...row, store_id: STORE, format: 'tar' });
}

describe('a directory of images', () => {
  test('belongs to the installation that came first, whoever asks at the same moment', async () => {
    const said = await Promise.all(Array.from({ length: 8 }, () => files.claim(randomUUID())));
    expect(new Set(said).size).toBe(1);
    expect(await readFile(join(dir, 'installation-id'), 'utf8')).toBe(`${said[0]}\n`);
    expect((await stat(join(dir, 'installation-id'))).mode & 0o777).toBe(0o600);
    expect((await readdir(dir)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('of a former release is taken over', async () => {
    const id = await oldImage('images', DAY);
    await record(own.db, id);
    await clean();
    expect([await named('images'), warnings]).toEqual([[id], []]);
    expect(await foreignDirectory({ db: own.db, imageFiles: files })).toBeNull();
  });

  test('loses nothing with another database: nothing is swept, announced, taken in or deleted', async () => {
    await files.claim(await readInstallationId(own.db));
    const id = await oldImage('images', DAY);
    const token = await oldImage('images', DAY).then(async (gone) => {
      await mkdir(join(dir, 'incoming', gone));
      await utimes(join(dir, 'incoming', gone), 0, 0);
      return gone;
    });
    await clean(other.db);
    expect((await named('images')).sort()).toEqual([id, token].sort());
    expect([await named('incoming'), await named('lost')]).toEqual([[token], []]);
    const foreign = expect.stringMatching(/belongs to the installation .*installation-id$/);
    expect(warnings).toEqual([foreign]);

    const machine = { queue: 'here', ports: [100, 102] } as const;
    const say = createAnnouncement({ db: other.db, imageFiles: files, check: async () => [], clock, log }, machine);
    await say();
    await say();
    expect(warnings).toEqual([foreign, foreign]);
    expect(await listImageWorkers(other.db, STORE)).toMatchObject([{ able: false, reason: foreign }]);
    expect(await liveImageQueues(other.db, new Date(0))).toEqual([]);

    const deps = { db: other.db, imageFiles: files, clock };
    const imageSettings = { maxBytes: 2 ** 20, keepFree: 0, dkms: true };
    const source = async function* () {
      yield smallTar();
    };
    await expect(
      importImage({ ...deps, imageSettings }, { actor: null }, { name: 'new', arch: 'x86_64' }, source()),
    ).rejects.toMatchObject({
      code: 'image_builder_unavailable',
      detail: foreign,
    });

    await record(other.db, id);
    await deleteImage({ ...deps, log }, id);
    expect(warnings.at(-1)).toEqual(foreign);
    expect(await named('images')).toContain(id);
    const left = () => other.db.selectFrom('image_removals').select('id').execute();
    expect(await left()).toEqual([{ id }]);

    // As the remedy says.
    await rm(join(dir, 'installation-id'));
    await say();
    expect(await liveImageQueues(other.db, new Date(0))).toEqual(['here']);
    await clean(other.db);
    expect(await left()).toEqual([]);
    expect(await named('images')).not.toContain(id);
  });
});

describe('the file of an image', () => {
  test('that no record names is set aside for a week, and comes back when one does', async () => {
    const id = await oldImage('images', 30 * DAY);
    await clean();
    expect([await named('images'), await named('lost')]).toEqual([[], [id]]);
    await clean();
    expect(await named('lost')).toEqual([id]);
    expect(warnings).toEqual([expect.stringContaining('folder lost')]);
    await record(own.db, id);
    await clean();
    expect([await named('images'), await named('lost')]).toEqual([[id], []]);
    expect(await named(`images/${id}`)).toEqual(['rootfs.tar']);
  });

  test('goes after that week', async () => {
    const young = await oldImage('lost', 6 * DAY);
    await oldImage('lost', 8 * DAY);
    await clean();
    expect(await named('lost')).toEqual([young]);
  });

  test('goes before that, the oldest first, while the disk is full', async () => {
    const known = await oldImage('lost', 6 * DAY);
    await record(own.db, known);
    const ages = [1, 5, 3, 2];
    const lost = await Promise.all(ages.map((days) => oldImage('lost', days * DAY)));
    // Each image has 30 bytes.
    await clean(own.db, { free: async () => 50 + 30 * (lost.length - (await named('lost')).length) });
    expect((await named('lost')).sort()).toEqual([lost[0], lost[3]].sort());
    expect(await named('images')).toEqual([known]);
    expect(warnings).toEqual([1, 2].map(() => expect.stringContaining('MUSTER_MIN_FREE')));
    await clean(own.db, { free: async () => 100 });
    expect(await named('lost')).toHaveLength(2);
  });

  test('that is set aside takes the place of one that was before', async () => {
    const id = await oldImage('lost', DAY);
    await oldImage('images', DAY, id);
    await clean();
    expect([await named('images'), await named('lost')]).toEqual([[], [id]]);
  });

  test('of an image that was deleted on purpose is not kept, also where the one that deletes it has no directory', async () => {
    const [here, elsewhere] = [await oldImage('images', 0), await oldImage('images', 0)];
    for (const id of [here, elsewhere]) await record(own.db, id);
    const deps = { db: own.db, clock, log };
    await deleteImage({ ...deps, imageFiles: files }, here);
    await deleteImage({ ...deps, imageFiles: null }, elsewhere);
    expect(await named('images')).toEqual([elsewhere]);
    expect(await own.db.selectFrom('image_removals').select('id').execute()).toEqual([{ id: elsewhere }]);
    await clean();
    expect([await named('images'), await named('lost')]).toEqual([[], []]);
    expect(await own.db.selectFrom('image_removals').select('id').execute()).toEqual([]);
  });
});
