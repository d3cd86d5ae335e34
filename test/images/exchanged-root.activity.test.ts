/** A login that puts something else in the place of the image: nothing of the machine is packed, changed or removed by it. */
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import { eventually } from '../support/eventually.ts';
import { type BusyboxBuilder, LIMITS, never, nothing, openBusyboxBuilder } from '../support/images/busybox-builder.ts';
import { inImage, type LoginKey } from '../support/images/image-login.ts';
import { describeTree, imagesMissing, makeBusyboxRoot } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const UNSAFE = expect.objectContaining({ code: 'image_root_unsafe' });

describeNeeding(imagesMissing(), 'a root that is not the one that was unpacked', () => {
  let images: BusyboxBuilder;
  let dir: string;
  let key: LoginKey;
  let builder: ImageBuilder;
  /** A folder of the machine that looks like an image, with everything that the builder looks for in one. */
  let machine: string;
  let before: Awaited<ReturnType<typeof describeTree>>;

  beforeAll(async () => {
    images = await openBusyboxBuilder('exchanged');
    ({ dir, key, builder } = images);
    machine = join(dir, 'machine');
    await mkdir(machine);
    await makeBusyboxRoot(machine);
    for (const name of ['tmp/complete', 'tmp/failed', 'usr/sbin/policy-rc.d', 'secret']) {
      await writeFile(join(machine, name), "the machine's");
    }
    before = await describeTree(machine);
  });
  afterEach(async () => {
    await images.removeJobs();
    expect(await describeTree(machine)).toEqual(before);
    expect(await builder.list()).toEqual([]);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const unpacked = async () => {
    const jobId = await images.unpacked();
    return { jobId, root: builder.rootOf(jobId), beside: join(builder.rootOf(jobId), '..') };
  };
  const opened = async (jail: boolean) => {
    const job = await unpacked();
    const { port } = await builder.open(await images.request(job.jobId, { jail }), never);
    return { ...job, ssh: (command: string) => inImage(port, key, command) };
  };
  const pack = (jobId: string) =>
    builder.pack(
      { jobId, format: 'tar', target: join(dir, 'packed.tar'), limits: LIMITS, needed: ['secret'] },
      never,
      nothing,
    );
  /** Every call that works in the root from outside refuses it. */
  async function expectRefused(jobId: string) {
    for (const jail of [true, false]) {
      const asked = await images.request(jobId, { jail });
      await expect(builder.open(asked, never)).rejects.toEqual(UNSAFE);
    }
    await expect(pack(jobId)).rejects.toEqual(UNSAFE);
    expect(await readdir(dir)).not.toContain('packed.tar');
    expect(await describeTree(machine)).toEqual(before);
  }

  test('a login beside the image exchanges it for a link to a folder of the machine', async () => {
    const { jobId, ssh } = await opened(false);
    const { code } = await ssh(
      `cd /mnt/image && mv image-root other && ln -s ${machine} image-root && touch /mnt/image/complete`,
    );
    expect(code).toBe(0);
    expect(await builder.state(jobId)).toBe('complete');
    await expect(builder.close(jobId)).rejects.toEqual(UNSAFE);
    await expect(pack(jobId)).rejects.toEqual(UNSAFE);
    await expectRefused(jobId);
  });

  test('one that did so before its environment went away does not get it back', async () => {
    const { jobId, ssh, beside } = await opened(false);
    await ssh(`cd /mnt/image && mv image-root other && ln -s ${machine} image-root`);
    const { pid } = JSON.parse(await readFile(join(beside, '../claim'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await eventually('it is gone', async () => (await builder.state(jobId)) === 'gone');
    await expectRefused(jobId);
  });

  test('one that removes it is told so', async () => {
    const { jobId, ssh } = await opened(false);
    await ssh('cd /mnt/image && mv image-root other && touch complete');
    await expect(builder.close(jobId)).rejects.toMatchObject({
      code: 'image_root_unsafe',
      detail: expect.stringContaining('image-root is gone'),
    });
  });

  test('whoever gets out of a jail gains nothing by it', async () => {
    const { jobId, root, beside } = await opened(true);
    await rename(root, join(beside, 'other'));
    await symlink(machine, root);
    // The markers of the machine's folder are not the user's.
    expect(await builder.state(jobId)).toBe('open');
    await expect(builder.close(jobId)).rejects.toEqual(UNSAFE);
    await expectRefused(jobId);
  });

  test.each(['image-root', 'image'])('a job whose %s is a link is neither opened nor packed', async (name) => {
    const { jobId, root, beside } = await unpacked();
    const exchanged = name === 'image' ? beside : root;
    await rename(exchanged, `${exchanged}-other`);
    const goal = name === 'image' ? join(dir, 'around') : machine;
    if (name === 'image') {
      await mkdir(goal, { recursive: true });
      await mkdir(join(goal, 'image-root'), { recursive: true });
    }
    await symlink(goal, exchanged);
    await expectRefused(jobId);
  });

  test('a link in its place is removed by the next unpacking, and not what it leads to', async () => {
    const { jobId, root, beside } = await unpacked();
    await rename(root, join(beside, 'other'));
    await symlink(machine, root);
    await images.unpack(jobId);
    expect((await describeTree(root))["b'bin/busybox'"]).toBeDefined();
    await builder.open(await images.request(jobId), never);
    await builder.close(jobId);
  });

  test('a marker that is a link is one, and is not followed', async () => {
    const { jobId, ssh, beside } = await opened(false);
    await ssh('ln -s /nowhere /mnt/image/complete');
    expect(await builder.state(jobId)).toBe('complete');
    await ssh(`ln -s ${machine} /mnt/image/failed`);
    expect(await builder.state(jobId)).toBe('failed');
    await builder.close(jobId);
    expect(await readdir(beside)).toEqual(['image-root']);
    expect(await stat(join(machine, 'secret'))).toBeDefined();
  });
});
