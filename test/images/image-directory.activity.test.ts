/** The directory of images where the API and the worker are different users, as on a cluster. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { keepOpeningImages, openImages } from '../../drivers/image-files/open-images.ts';
import { eventually } from '../support/eventually.ts';
import { always, startFakeApi } from '../support/fakes/fake-api.ts';
import { describeNeeding } from '../support/requirement.ts';
import { cli } from '../support/stack/command-line.ts';
import { smallTar } from './fixtures.ts';

const OWNER = { uid: 4711, gid: 4712 };
const LIMITS = { maxBytes: 2 ** 20, keepFree: 0 };
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-image-directory-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const said: string[] = [];
const open = (path: string, owner?: typeof OWNER) => openImages(path, (message) => said.push(message), owner);
async function* once(bytes: Buffer) {
  yield bytes;
}

describe('settings', () => {
  test('an owner is two numbers', () => {
    expect(loadEnvironment({ MUSTER_IMAGES_OWNER: '1000:1001' }).MUSTER_IMAGES_OWNER).toEqual({ uid: 1000, gid: 1001 });
    expect(loadEnvironment({})).toMatchObject({ MUSTER_WORKER_ROLE: 'all', MUSTER_IMAGE_SERVICE: true });
  });
  test.each(['127.0.0.1', '0.0.0.0', '::1', '0:0:0:0:0:0:0:1', 'fd00::2'])('shells may listen on %s', (address) => {
    expect(loadEnvironment({ MUSTER_IMAGE_HOST: address }).MUSTER_IMAGE_HOST).toBe(address);
  });
  test.each([
    ['MUSTER_IMAGES_OWNER', 'muster'],
    ['MUSTER_WORKER_ROLE', 'image'],
    ['MUSTER_IMAGE_SERVICE', 'off'],
    ['MUSTER_IMAGE_HOST', 'localhost'],
    ['MUSTER_IMAGE_HOST', '10.0.0'],
    ['MUSTER_IMAGE_HOST', '[::1]'],
  ])('%s=%s is a mistake', (name, value) => {
    expect(() => loadEnvironment({ [name]: value })).toThrow(EnvironmentError);
  });
});

test('one that cannot be used now is opened as soon as it can', async () => {
  const path = join(dir, 'images');
  await writeFile(path, 'in the way');
  const images = await keepOpeningImages(path, (message) => said.push(message));
  expect([images.current(), said.at(-1)]).toEqual([null, expect.stringContaining('there are no images here')]);
  await rm(path);
  const files = await eventually('it is open', () => images.current());
  expect(files.storeId).toBe((await open(path))?.storeId);
  images.stop();
});

describeNeeding(process.getuid?.() === 0 ? null : 'only root gives files away', 'an owner that is not root', () => {
  const ownerOf = async (path: string) => {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  };

  test('gets the directory, and what a worker makes in it', async () => {
    const files = await open(dir, OWNER);
    if (files === null) throw new Error(said.at(-1));
    const { token } = await files.fileForJob('33333333-2222-4333-8444-555555555555', 'tar');
    await files.discard(token);
    const received = await files.receive(once(smallTar()), LIMITS);
    const imageId = '22222222-2222-4333-8444-555555555555';
    await files.keep({ token: received.token, imageId, created: new Date(), facts: received });
    const image = join(dir, 'images', imageId);
    for (const path of [dir, join(dir, 'incoming'), join(dir, 'images'), image, join(image, 'manifest.json')]) {
      expect([path, await ownerOf(path)]).toEqual([path, OWNER]);
    }
    // As the API does it there.
    const words = ['--reuid', String(OWNER.uid), '--regid', String(OWNER.gid), '--clear-groups', '--'];
    await chmod(dir, 0o700);
    execFileSync('setpriv', [
      ...words,
      'sh',
      '-c',
      `cat ${image}/rootfs.tar >/dev/null && mkdir ${dir}/incoming/new && rm -r ${image}`,
    ]);
  });

  test('gets what is set aside too', async () => {
    const files = await open(dir, OWNER);
    const imageId = randomUUID();
    await mkdir(join(dir, 'images', imageId));
    await files?.setAside(imageId);
    expect(await files?.aside(0)).toEqual([imageId]);
    expect(await ownerOf(join(dir, 'lost'))).toEqual(OWNER);
  });

  test('another way in is open for what is there already', async () => {
    await mkdir(join(dir, 'images'), { mode: 0o700 });
    await chown(dir, 1, 1);
    expect(await open(dir, OWNER)).not.toBeNull();
    expect(await ownerOf(join(dir, 'images'))).toEqual(OWNER);
  });

  test('a volume that everybody may write to is closed before images are unpacked on it', async () => {
    const jobs = join(dir, 'volume');
    await mkdir(jobs);
    await chmod(jobs, 0o777);
    expect(await createImageBuilder({ jobsDir: jobs }).free()).toBeGreaterThan(0);
    expect((await stat(jobs)).mode & 0o7777).toBe(0o700);
  });
});

describeNeeding(
  process.getuid?.() === 0 ? null : 'only root makes a small disk',
  'a disk that fills within a chunk',
  () => {
    const small = () => join(dir, 'small');
    beforeEach(async () => {
      await mkdir(small());
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1028k,nr_inodes=200,mode=755', 'small', small()]);
    });
    afterEach(() => void execFileSync('umount', [small()]));

    /** Makes its last files: what is to be made from here on finds no room. */
    async function fill(): Promise<void> {
      for (let count = 0; ; count += 1) {
        const made = await writeFile(join(small(), `more-${count}`), '').then(
          () => true,
          (error: NodeJS.ErrnoException) => error.code !== 'ENOSPC',
        );
        if (!made) return;
      }
    }

    /** A tar of which the last part has no room: a write takes what has, and says nothing. */
    const large = Buffer.concat([smallTar(), Buffer.alloc(1028 * 1024 + 2_000 - smallTar().length)]);

    test('is said to be full, and no half file is taken in', async () => {
      const files = await open(small());
      const limits = { maxBytes: 2 ** 30, keepFree: -(2 ** 30) };
      await expect(files?.receive(once(large), limits)).rejects.toMatchObject({ code: 'image_disk_full' });
      expect(await readdir(join(small(), 'incoming'))).toEqual([]);
    });

    test('is said to be full too where there is no room for a folder, or for the word about a file', async () => {
      const limits = { maxBytes: 2 ** 20, keepFree: 0 };
      const files = await open(small());
      const received = await files?.receive(once(smallTar()), limits);
      if (received === undefined) throw new Error('nothing came in');
      await fill();
      const full = { code: 'image_disk_full' };
      await expect(files?.receive(once(smallTar()), limits)).rejects.toMatchObject(full);
      await expect(files?.fileForJob(randomUUID(), 'tar')).rejects.toMatchObject(full);
      const file = { token: received.token, imageId: randomUUID(), created: new Date(), facts: received };
      await expect(files?.keep(file)).rejects.toMatchObject(full);
      expect([await readdir(join(small(), 'incoming')), await readdir(join(small(), 'images'))]).toEqual([[], []]);
    });

    test('and has images is opened and read all the same, though nobody can say whose it is', async () => {
      const received = await (await open(small()))?.receive(once(smallTar()), LIMITS);
      if (received === undefined) throw new Error('nothing came in');
      const imageId = randomUUID();
      await (await open(small()))?.keep({ token: received.token, imageId, created: new Date(), facts: received });
      await fill();
      const files = await open(small());
      expect((await files?.read(imageId, 'tar'))?.size).toBe(received.size);
      expect(await files?.aside(0)).toEqual([]);
      await expect(files?.claim(randomUUID())).rejects.toMatchObject({ code: 'image_disk_full' });
    });

    test('leaves no half file of an export either', async () => {
      const api = await startFakeApi();
      const image = { id: randomUUID(), name: 'base', sha256: null, size: null, format: 'tar' };
      api.on(`GET /api/v1/images/${image.id}`, always(200, image));
      api.on(`GET /api/v1/images/${image.id}/content`, (_request, response) => void response.end(large));
      const { exit, err } = await cli(['image', 'export', image.id, join(small(), 'out.tar')], { url: api.url });
      await api.close();
      expect([exit, err]).toEqual([1, expect.stringMatching(/file_not_written: .*ENOSPC/)]);
      expect(await readdir(small())).toEqual([]);
    });
  },
);
