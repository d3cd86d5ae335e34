import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuildLimits, ImageBuilder } from '../../domain/images/image-builder.ts';
import { IMAGE_FORMATS, type ImageFormat } from '../../domain/images/image-words.ts';
import { squashfsCompression } from '../../domain/images/squashfs-header.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { eventually } from '../support/eventually.ts';
import { describeTree, imagesMissing } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);
const GIB = 1024 ** 3;
const LIMITS: BuildLimits = { maxBytes: GIB, seconds: 60, keepFree: 0 };
const never = new AbortController().signal;
const nothing = () => undefined;

/** Archives that try to write elsewhere, by what they try; `{}` is a folder outside. */
const HOSTILE: Record<string, string> = {
  'a name with dots': 'add("../../../../../../..{}/out", b"x")',
  'an absolute name': 'add("{}/out", b"x")',
  'a link to the outside, then a file below it': 'sym("way", "{}"); add("way/out", b"x")',
  'a link upwards, then a file below it': 'sym("up", "../../../../../../..{}"); add("up/out", b"x")',
  'a link to a file outside, then that file': 'sym("victim", "{}/victim"); add("victim", b"changed")',
  'a hard link to a file outside, then that file': 'hard("victim", "{}/victim"); add("victim", b"changed")',
  'a hard link by dots': 'hard("victim", "../../../../../../..{}/victim"); add("victim", b"changed")',
  'rights of a folder outside through a link': 'sym("way", "{}"); folder("way", 0o777)',
};

/** What is put into a folder, and the name that is then forged in the squashfs of it; both names are of the same length. */
type Forgery = (folder: string, outside: string) => Promise<[name: string, forged: string]>;
const forgedName =
  (nameOf: (outside: string) => string): Forgery =>
  async (folder, outside) => {
    const forged = nameOf(outside);
    const name = 'n'.repeat(forged.length);
    await writeFile(join(folder, name), 'x');
    return [name, forged];
  };
const HOSTILE_SQUASHFS: Record<string, Forgery> = {
  'a name with dots': forgedName((outside) => `../../../../../../..${outside}/out`),
  'an absolute name': forgedName((outside) => `${outside}/out`),
  'a name that is the folder above': forgedName(() => '..'),
  'a link to the outside, then a folder of the same name': async (folder, outside) => {
    await symlink(outside, join(folder, 'twin-1'));
    await mkdir(join(folder, 'twin-2'), { mode: 0o777 });
    await writeFile(join(folder, 'twin-2/out'), 'x');
    return ['twin-2', 'twin-1'];
  },
  'a link to a file outside, then a file of the same name': async (folder, outside) => {
    await symlink(join(outside, 'victim'), join(folder, 'twin-1'));
    await writeFile(join(folder, 'twin-2'), 'changed');
    return ['twin-2', 'twin-1'];
  },
};

describeNeeding(imagesMissing(), 'files of images', () => {
  let dir: string;
  let builder: ImageBuilder;
  let rich: string;
  let count = 0;

  beforeAll(async () => {
    dir = await mkdtemp('/var/tmp/muster-archives-');
    builder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
    rich = join(dir, 'rich');
    await makeRichTree(rich);
  });
  afterAll(async () => {
    // Also what a test left working that failed half way.
    for (const jobId of await builder.list()) await builder.remove(jobId);
    await rm(dir, { recursive: true, force: true });
  });

  const unpack = (
    jobId: string,
    source: string,
    format: ImageFormat,
    more: Partial<BuildLimits> = {},
    signal = never,
  ) => builder.unpack({ jobId, source, format, limits: { ...LIMITS, ...more } }, signal, nothing);
  const nextJob = () => {
    count += 1;
    return `job-${count}`;
  };
  const packFolder = async (folder: string, format: ImageFormat, name = `of-folder.${format}`) => {
    const target = join(dir, name);
    const packed = await builder.pack({ jobId: nextJob(), folder, target, format, limits: LIMITS }, never, nothing);
    return { target, packed };
  };

  test.each(IMAGE_FORMATS)('%s: packed and unpacked a root is the same to the last bit', async (format) => {
    const seconds = format === 'squashfs';
    const { target, packed } = await packFolder(rich, format);
    const jobId = nextJob();
    await unpack(jobId, target, format);
    const expected = await describeTree(rich, { seconds });
    // The format has no place for lists of users.
    if (format === 'squashfs') expected["b'acl'"] = { ...expected["b'acl'"], xattrs: {} };
    expect(await describeTree(builder.rootOf(jobId), { seconds })).toEqual(expected);
    for (const name of ['null', 'disk', 'pipe', 'ping', 'acl', 'set-id', 'one', 'other', 'hole']) {
      expect(expected[`b'${name}'`]).toBeDefined();
    }
    expect(Object.keys(expected["b'ping'"]?.xattrs ?? {})).toContain('security.capability');
    expect(expected["b'one'"]?.same).toBe(expected["b'other'"]?.same);
    expect(packed).toEqual({
      size: (await stat(target)).size,
      md5: sum('md5sum', target),
      sha256: sum('sha256sum', target),
    });
    const hole = await stat(join(builder.rootOf(jobId), 'hole'));
    expect(hole.blocks * 512).toBeLessThan(1024 ** 2);
    expect(await readdir(join(dir, 'jobs', jobId, 'output'))).toEqual([]);
  });

  test.each(IMAGE_FORMATS)(
    '%s: the same root packed again gives the same bytes, also after it was read',
    async (format) => {
      const one = await packFolder(rich, format, 'first');
      await run('sh', ['-c', `cat ${rich}/one ${rich}/user > /dev/null`]);
      const two = await packFolder(rich, format, 'second');
      expect(two.packed).toEqual(one.packed);
    },
  );

  test.each(['xz', 'zstd', 'lz4', 'lzo'])('a squashfs of %s is packed in the same way again', async (compression) => {
    const source = join(dir, `${compression}.squashfs`);
    await run('mksquashfs', [rich, source, '-comp', compression, '-b', '256K', '-no-progress', '-quiet', '-noappend']);
    const jobId = nextJob();
    await unpack(jobId, source, 'squashfs');
    const target = join(dir, 'again.squashfs');
    await builder.pack({ jobId, target, format: 'squashfs', like: source, limits: LIMITS }, never, nothing);
    expect(squashfsCompression(await readFile(target))).toEqual({ name: compression, blockSize: 262_144 });
  });

  /** Unpacks what `make` answers for a folder outside, of which nothing may change. */
  const unpackHostile = async (format: ImageFormat, make: (outside: string) => Promise<string>) => {
    const outside = join(dir, 'outside');
    await rm(outside, { recursive: true, force: true });
    await mkdir(outside, { mode: 0o755 });
    await writeFile(join(outside, 'victim'), 'untouched');
    const source = await make(outside);
    const before = await describeTree(outside);
    await unpack(nextJob(), source, format).catch((error) => expect(error.code).toBe('image_archive_invalid'));
    expect(await describeTree(outside)).toEqual(before);
    expect((await readdir(dir)).filter((name) => name === 'out')).toEqual([]);
  };

  test.each(Object.entries(HOSTILE))('an archive cannot write outside: %s', async (_, members) => {
    await unpackHostile('tar', async (outside) => {
      const source = join(dir, 'hostile.tar');
      await makeTar(source, members.replaceAll('{}', outside));
      return source;
    });
  });

  test.each(Object.entries(HOSTILE_SQUASHFS))('a squashfs cannot write outside: %s', async (_, forge) => {
    await unpackHostile('squashfs', async (outside) => {
      const folder = await mkdtemp(join(dir, 'forged-'));
      const [name, forged] = await forge(folder, outside);
      const source = join(dir, 'hostile.squashfs');
      // Names stand as they are in tables that are not packed.
      await run('mksquashfs', [folder, source, '-noI', '-noD', '-noF', '-noX', '-no-progress', '-quiet', '-noappend']);
      const bytes = await readFile(source);
      const place = bytes.indexOf(name);
      expect([place > 0, bytes.indexOf(name, place + 1), forged.length]).toEqual([true, -1, name.length]);
      bytes.write(forged, place);
      await writeFile(source, bytes);
      return source;
    });
  });

  test('what is no archive, cut off, or of another format is said so with the reason of the program', async () => {
    const { target } = await packFolder(rich, 'tar.gz');
    const cut = join(dir, 'cut.tar.gz');
    await writeFile(cut, (await readFile(target)).subarray(0, 1_000));
    await expect(unpack(nextJob(), cut, 'tar.gz')).rejects.toMatchObject({
      code: 'image_archive_invalid',
      detail: expect.stringMatching(/end of file|unexpected EOF/i),
    });
    for (const format of IMAGE_FORMATS) {
      const text = join(dir, 'text');
      await writeFile(text, 'this is no image\n'.repeat(1_000));
      await expect(unpack(nextJob(), text, format)).rejects.toMatchObject({ code: 'image_archive_invalid' });
    }
    await expect(unpack(nextJob(), join(dir, 'missing'), 'tar')).rejects.toMatchObject({
      code: 'image_archive_invalid',
    });
  });

  test('a root that grows over its limit is stopped while it grows', async () => {
    const source = await makeZeros(join(dir, 'bomb.tar'), 4_000);
    const jobId = nextJob();
    const limit = 200 * 1024 ** 2;
    await expect(unpack(jobId, source, 'tar', { maxBytes: limit })).rejects.toMatchObject({
      code: 'image_too_large',
      detail: expect.stringContaining(`${limit} are allowed`),
    });
    // How much is there by then depends on how often the machine lets us look; it is not all of it.
    expect(await builder.size(jobId)).toBeLessThan(3.5 * GIB);
    const target = join(dir, 'never');
    const limits = { ...LIMITS, maxBytes: limit };
    await expect(builder.pack({ jobId, target, format: 'tar', limits }, never, nothing)).rejects.toMatchObject({
      code: 'image_too_large',
    });
    await builder.remove(jobId);
    await rm(source);
  });

  test('a step that takes too long, or is called off, ends with all it started', async () => {
    const source = await makeZeros(join(dir, 'long.tar'), 64_000);
    const [slow, off] = [nextJob(), nextJob()];
    await expect(unpack(slow, source, 'tar', { seconds: 1, maxBytes: 64 * GIB })).rejects.toMatchObject({
      code: 'image_wait_timeout',
    });
    const abort = new AbortController();
    const unpacking = unpack(off, source, 'tar', { maxBytes: 64 * GIB }, abort.signal);
    await eventually('it works', async () => (await builder.size(off).catch(() => 0)) > 10_000_000);
    abort.abort(new Error('called off'));
    await expect(unpacking).rejects.toThrow('called off');
    expect(await commandsWith(join(dir, 'jobs'))).toEqual([]);
    for (const jobId of [slow, off]) await builder.remove(jobId);
    await rm(source);
  });

  test('a step ends with the worker that is killed; the next one begins anew', async () => {
    const source = await makeZeros(join(dir, 'orphan.tar'), 64_000);
    const jobId = nextJob();
    const module = join(import.meta.dirname, '../../drivers/image-builder/create-image-builder.ts');
    const request = { jobId, source, format: 'tar', limits: { ...LIMITS, maxBytes: 64 * GIB } };
    const program = `
      import { createImageBuilder } from ${JSON.stringify(module)};
      const builder = createImageBuilder({ jobsDir: ${JSON.stringify(join(dir, 'jobs'))} });
      await builder.unpack(${JSON.stringify(request)}, new AbortController().signal, () => undefined);
    `;
    const worker = execFile(process.execPath, ['--input-type=module', '--eval', program]);
    const exited = once(worker, 'exit');
    await eventually('it works', async () => (await builder.size(jobId).catch(() => 0)) > 10_000_000);
    worker.kill('SIGKILL');
    await exited;
    await eventually('nothing works for the job', async () => (await commandsWith(join(dir, 'jobs'))).length === 0);
    const { target } = await packFolder(rich, 'tar');
    await unpack(jobId, target, 'tar');
    expect(await describeTree(builder.rootOf(jobId))).toEqual(await describeTree(rich));
    expect(await commandsWith(join(dir, 'jobs'))).toEqual([]);
    await rm(source);
  });

  test('a full disk is said so, and leaves no half file', async () => {
    const small = join(dir, 'small');
    await mkdir(small);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=755', 'small', small]);
    try {
      const cramped = createImageBuilder({ jobsDir: join(small, 'jobs') });
      const source = await makeZeros(join(dir, 'wide.tar'), 12);
      const unpacking = { jobId: 'one', source, format: 'tar' as const, limits: LIMITS };
      await expect(cramped.unpack(unpacking, never, nothing)).rejects.toMatchObject({ code: 'image_disk_full' });
      await cramped.remove('one');
      const folder = join(dir, 'noise');
      await mkdir(folder);
      execFileSync('dd', ['if=/dev/urandom', `of=${folder}/noise`, 'bs=1M', 'count=12'], { stdio: 'ignore' });
      for (const format of IMAGE_FORMATS) {
        const target = join(small, `target.${format}`);
        const packing = cramped.pack({ jobId: 'two', folder, target, format, limits: LIMITS }, never, nothing);
        await expect(packing).rejects.toMatchObject({ code: 'image_disk_full' });
        const across = createImageBuilder({ jobsDir: join(dir, 'jobs') });
        const copying = across.pack({ jobId: nextJob(), folder, target, format, limits: LIMITS }, never, nothing);
        await expect(copying).rejects.toMatchObject({ code: 'image_disk_full' });
      }
      expect(await readdir(small)).toEqual(['jobs']);
      const keepFree = { ...LIMITS, keepFree: 1024 ** 5 };
      const asked = {
        jobId: nextJob(),
        source: await makeZeros(join(dir, 'wide.tar'), 2_000),
        format: 'tar' as const,
      };
      await expect(builder.unpack({ ...asked, limits: keepFree }, never, nothing)).rejects.toMatchObject({
        code: 'image_disk_full',
      });
    } finally {
      await run('umount', [small]);
    }
  }, 240_000);

  test('files that must be there are looked for inside the image', async () => {
    const root = join(dir, 'bootable');
    await mkdir(join(root, 'boot'), { recursive: true });
    await writeFile(join(root, 'boot/vmlinuz-6.1'), 'kernel');
    await symlink('/boot/vmlinuz-6.1', join(root, 'boot/vmlinuz'));
    await symlink('/etc/passwd', join(root, 'boot/initrd'));
    const target = join(dir, 'bootable.tar');
    const pack = (needed: string[]) =>
      builder.pack({ jobId: nextJob(), folder: root, target, format: 'tar', needed, limits: LIMITS }, never, nothing);
    await expect(pack(['boot/vmlinuz'])).resolves.toBeDefined();
    await expect(pack(['boot/vmlinuz', 'boot/initrd'])).rejects.toMatchObject({
      code: 'image_boot_file_missing',
      detail: 'the image has no file boot/initrd',
    });
  });
});

/** A tree with everything that an archive may lose. */
async function makeRichTree(root: string): Promise<void> {
  await mkdir(join(root, 'folder/deep'), { recursive: true });
  await chmod(root, 0o755);
  await writeFile(join(root, 'one'), 'the same file under two names');
  await link(join(root, 'one'), join(root, 'other'));
  await writeFile(join(root, 'user'), 'of a user that the machine does not have');
  await writeFile(join(root, 'ping'), 'with a capability');
  await writeFile(join(root, 'acl'), 'with a list of users');
  await writeFile(join(root, 'set-id'), 'runs as its owner');
  await writeFile(join(root, `${'long-name-'.repeat(20)}é`), 'a long name that is not ASCII');
  await symlink('/nowhere/at all', join(root, 'folder/link'));
  const setXattr = `
import os, struct, sys
root = sys.argv[1]
os.setxattr(root + '/ping', 'security.capability', bytes.fromhex('0100000200200000000000000000000000000000'))
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', tag, perm, who) for tag, perm, who in
    [(1, 6, 2**32 - 1), (2, 4, 4711), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1), (32, 4, 2**32 - 1)])
os.setxattr(root + '/acl', 'system.posix_acl_access', acl)
os.setxattr(root + '/user', 'user.note', b'kept\\x00bytes')
os.setxattr(root + '/folder', 'user.note', b'of a folder')
with open(root + '/hole', 'wb') as hole: hole.seek(64 * 1024 * 1024); hole.write(b'end')
os.utime(root + '/user', ns=(1, 1_600_000_000_123_456_789))
`;
  const script = [
    `cd ${root}`,
    'chown 4711:4712 user acl; chown 33:33 folder; chmod 02775 folder; chown -h 4711 folder/link',
    'chmod 04755 set-id; chmod 0000 folder/deep',
    'mknod null c 1 3; mknod disk b 8 0; mkfifo pipe; chown 0:6 disk; chmod 660 disk',
    `python3 -c "$SET_XATTR" ${root}`,
  ];
  await run('sh', ['-ec', script.join('\n')], { env: { ...process.env, SET_XATTR: setXattr } });
}

/** A tar of members made by statements of Python: add, sym, hard, folder. */
async function makeTar(file: string, members: string): Promise<void> {
  const program = `
import io, sys, tarfile
tar = tarfile.open(sys.argv[1], 'w')
def put(name, kind, link='', mode=0o644, data=b''):
    info = tarfile.TarInfo('x'); info.name = name; info.type = kind; info.linkname = link; info.mode = mode; info.size = len(data)
    tar.addfile(info, io.BytesIO(data))
def add(name, data): put(name, tarfile.REGTYPE, data=data)
def sym(name, goal): put(name, tarfile.SYMTYPE, goal, 0o777)
def hard(name, goal): put(name, tarfile.LNKTYPE, goal)
def folder(name, mode): put(name, tarfile.DIRTYPE, mode=mode)
${members}
tar.close()
`;
  await run('python3', ['-c', program, file]);
}

/** A tar of one file of so many MiB of zeros, which takes no place until it is unpacked. */
async function makeZeros(file: string, mebibytes: number): Promise<string> {
  const program = `
import sys, tarfile
info = tarfile.TarInfo('zeros'); info.size = ${mebibytes} << 20
with open(sys.argv[1], 'wb') as tar:
    tar.write(info.tobuf(tarfile.GNU_FORMAT))
    tar.truncate(512 + info.size + 1024)
`;
  await run('python3', ['-c', program, file]);
  return file;
}

function sum(program: string, file: string): string {
  return execFileSync(program, [file], { encoding: 'utf8' }).split(' ')[0] ?? '';
}

async function commandsWith(word: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(word) && /^(flock|unshare|sh )/.test(line));
}
