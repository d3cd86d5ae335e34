/** What makes the work on an image hard for who works from outside: half of it is there, it is too deep, too large or of another kind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import { eventually } from '../support/eventually.ts';
import { type BusyboxBuilder, LIMITS, never, nothing, openBusyboxBuilder } from '../support/images/busybox-builder.ts';
import { inImage } from '../support/images/image-login.ts';
import { imagesMissing } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

/** Larger than a process may read at once; it takes no place on the disk. */
const HUGE = 3 * 1024 ** 3;
/** Between two ends of a room that are asked for. */
const PAUSE_MS = 20;
/** Makes folders in the working directory, each in the one before, far deeper than a path may be long. */
const DIG = 'import os\nfor _ in range(60): os.mkdir("d" * 200); os.chdir("d" * 200)';

describeNeeding(imagesMissing(), 'an image that is hard to work on', () => {
  let images: BusyboxBuilder;
  let dir: string;
  let tar: string;
  let builder: ImageBuilder;

  beforeAll(async () => {
    images = await openBusyboxBuilder('leftovers');
    ({ dir, tar, builder } = images);
  });
  afterEach(async () => {
    await images.removeJobs();
    expect(await builder.list()).toEqual([]);
  });
  afterAll(() => {
    execFileSync('rm', ['-rf', dir]);
  });

  const unpacked = async () => {
    const jobId = await images.unpacked();
    return { jobId, root: builder.rootOf(jobId), folder: join(builder.rootOf(jobId), '../..') };
  };
  const open = async (jobId: string) => {
    const { port } = await builder.open(await images.request(jobId), never);
    return { ssh: (command: string) => inImage(port, images.key, command) };
  };
  const HALF = { code: 'image_environment_failed', detail: expect.stringContaining('not unpacked to its end') };

  test('the umask of who works on it is none of its business', async () => {
    const bare = join(dir, 'bare.tar');
    execFileSync('sh', ['-c', `mkdir bare && tar -C bare -xf ${tar} && tar -C bare -cf ${bare} bin etc usr`], {
      cwd: dir,
    });
    const before = process.umask(0o077);
    try {
      const jobId = await images.unpacked();
      await images.unpack(jobId, bare);
      await open(jobId);
      const modes = ['', 'etc/resolv.conf', 'usr/sbin/policy-rc.d'].map(async (path) => {
        return (await stat(join(builder.rootOf(jobId), path))).mode & 0o7777;
      });
      expect(await Promise.all(modes)).toEqual([0o755, 0o644, 0o755]);
    } finally {
      process.umask(before);
    }
  });

  test('what is written beside it counts as its size', async () => {
    const { jobId, folder } = await unpacked();
    const before = await builder.size(jobId);
    await writeFile(join(folder, 'image', 'beside'), Buffer.alloc(5_000_000, 1));
    expect(await builder.size(jobId)).toBeGreaterThanOrEqual(before + 5_000_000);
  });

  test('one that is half unpacked is not opened', async () => {
    const { jobId, root } = await unpacked();
    const broken = join(dir, 'broken.tar');
    await writeFile(broken, (await readFile(tar)).subarray(0, 100_000));
    await expect(images.unpack(jobId, broken)).rejects.toMatchObject({ code: 'image_archive_invalid' });
    expect(await readdir(root)).toContain('bin');
    await expect(open(jobId)).rejects.toMatchObject(HALF);
    await expect(images.unpack(jobId, tar, { ...LIMITS, maxBytes: 1 })).rejects.toMatchObject({
      code: 'image_too_large',
    });
    await expect(open(jobId)).rejects.toMatchObject(HALF);
    await images.unpack(jobId);
    await open(jobId);
  });

  test('a job of a version that made no note of it goes on if it was opened', async () => {
    const { jobId, folder } = await unpacked();
    const first = await open(jobId);
    await rm(join(folder, 'unpacked'));
    await open(jobId);
    expect((await first.ssh('id')).code).toBe(0);
    const { pid } = JSON.parse(await readFile(join(folder, 'claim'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    const again = await open(jobId);
    expect((await again.ssh('id')).code).toBe(0);
    await builder.close(jobId);
    await expect(open(jobId)).rejects.toMatchObject(HALF);
  });

  test('a login that was killed is opened anew, however soon that is asked', async () => {
    const { jobId, folder } = await unpacked();
    await open(jobId);
    for (let round = 0; round < 5; round += 1) {
      const { pid } = JSON.parse(await readFile(join(folder, 'claim'), 'utf8')) as { pid: number };
      process.kill(pid, 'SIGKILL');
      expect((await (await open(jobId)).ssh('id')).code).toBe(0);
    }
  });

  test('a try that was given up takes nothing from the next one', async () => {
    const { jobId } = await unpacked();
    const request = { jobId, source: tar, format: 'tar', limits: LIMITS } as const;
    for (let round = 0; round < 6; round += 1) {
      const given = new AbortController();
      const first = builder.unpack(request, given.signal, nothing).catch((error: unknown) => error);
      await delay(round * 30);
      const second = builder.unpack(request, never, nothing);
      const late = builder.close(jobId, given.signal).catch((error: unknown) => error);
      await delay(round * 10);
      given.abort(new Error('given up'));
      await second;
      await Promise.all([first, late]);
    }
    expect((await (await open(jobId)).ssh('id')).code).toBe(0);
  });

  test('a program that somebody kills is told as such, and may be begun again', async () => {
    const { jobId, root, folder } = await unpacked();
    execFileSync('truncate', ['-s', '2G', join(root, 'zeros')]);
    execFileSync('dd', ['if=/dev/urandom', `of=${join(root, 'noise')}`, 'bs=1M', 'count=200', 'status=none']);
    await rm(join(folder, 'claim'), { force: true });
    const packing = builder.pack(
      { jobId, target: join(dir, 'packed.tar.gz'), format: 'tar.gz', limits: LIMITS },
      never,
      nothing,
    );
    const claim = await eventually('it works', () => readFile(join(folder, 'claim'), 'utf8').catch(() => null));
    process.kill((JSON.parse(claim) as { pid: number }).pid, 'SIGKILL');
    await expect(packing).rejects.toMatchObject({ code: 'image_step_killed' });
  });

  test('ending it touches nobody who came into a namespace of its number', async () => {
    const { jobId, folder } = await unpacked();
    await open(jobId);
    const { pid } = JSON.parse(await readFile(join(folder, 'claim'), 'utf8')) as { pid: number };
    const number = await readlink(`/proc/${pid}/ns/pid`);
    const machine = await readlink('/proc/self/ns/pid');
    // It comes back however often it is ended, so that there is always one more look.
    const stubborn = 'while [ -e "$0" ]; do echo >> "$0"; MUSTER_IMAGE_JOB="$1" sleep 60; done';
    const rounds = join(dir, 'rounds');
    await writeFile(rounds, '');
    const outer = spawn('sh', ['-c', stubborn, rounds, folder], { stdio: 'ignore' });
    let isThrough = false;
    // Between two of its processes there is none for a moment, which is the end of a close where a busy machine lets that moment last; and a close
    // gives up after its time. Either way the next one looks on.
    const close = async (): Promise<void> => {
      while (!isThrough) {
        await builder.close(jobId).catch((error: { code?: string }) => {
          if (error.code !== 'image_environment_failed') throw error;
        });
        await delay(PAUSE_MS);
      }
    };
    const closing = close();
    closing.catch(() => undefined);
    await eventually('the room is gone', async () => (await readlink(`/proc/${pid}/ns/pid`).catch(() => '')) === '');
    const neighbours: ChildProcess[] = [];
    try {
      // The kernel gives the lowest number that is free. Another one may have taken it, who then is the one not to be touched.
      for (let taken = ''; taken !== number && neighbours.length < 20; ) {
        const neighbour = spawn('unshare', ['--pid', '--fork', '--kill-child', 'sleep', '60'], { stdio: 'ignore' });
        neighbours.push(neighbour);
        taken = await eventually('a namespace of its own, or its end', async () => {
          if (neighbour.exitCode !== null) return number;
          const namespace = await readlink(`/proc/${neighbour.pid}/ns/pid_for_children`).catch(() => machine);
          return namespace !== machine && namespace;
        });
      }
      const looks = async () => (await stat(rounds)).size;
      const before = await looks();
      await eventually('more looks', async () => (await looks()) > before + 3);
      expect(neighbours.map((neighbour) => neighbour.exitCode)).toEqual(neighbours.map(() => null));
    } finally {
      isThrough = true;
      for (const process_ of [outer, ...neighbours]) process_.kill('SIGKILL');
      await closing;
    }
  });

  test('folders deeper than a path may be long are removed like others', async () => {
    const { jobId, root, folder } = await unpacked();
    const { ssh } = await open(jobId);
    await ssh('mkdir /tmp/complete /deep');
    for (const place of ['tmp/complete', 'deep']) execFileSync('python3', ['-c', DIG], { cwd: join(root, place) });
    await builder.close(jobId);
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
    await images.unpack(jobId);
    expect(await readdir(root)).not.toContain('deep');
    execFileSync('python3', ['-c', DIG], { cwd: root });
    await builder.remove(jobId);
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('folders in the place of our files come back', async () => {
    const { jobId, root } = await unpacked();
    const places = ['etc/resolv.conf', 'usr/sbin/policy-rc.d'].map((path) => join(root, path));
    for (const place of places) {
      await rm(place, { force: true });
      await mkdir(place);
      await writeFile(join(place, 'inside'), 'kept');
    }
    const { ssh } = await open(jobId);
    expect((await ssh('cat /usr/sbin/policy-rc.d')).stdout).toContain('exit 101');
    await builder.close(jobId);
    for (const place of places) expect(await readFile(join(place, 'inside'), 'utf8')).toBe('kept');
  });

  test('files of any size are in the places that are looked at', async () => {
    const { jobId, root } = await unpacked();
    await truncate(join(root, 'etc/passwd'), HUGE);
    const { ssh } = await open(jobId);
    expect((await ssh('dd if=/dev/null of=/etc/resolv.conf bs=1 seek=3G')).code).toBe(0);
    expect((await lstat(join(root, 'etc/resolv.conf'))).size).toBe(HUGE);
    await builder.close(jobId);
    expect((await lstat(join(root, 'etc/resolv.conf'))).size).toBe(HUGE);
  });
});
