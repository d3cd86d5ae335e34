import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createArchive, type NewArchive, readArchive, verifyArchive } from '../../../deploy/backup/archive.ts';
import { imageFiles, readSavedFiles } from '../../../deploy/backup/saved-files.ts';
import { describeNeeding } from '../../support/requirement.ts';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-archive-'));
  path = join(dir, 'backup');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function fill(entries: Record<string, string | Buffer>): Promise<number> {
  const archive = await createArchive(path);
  for (const [name, content] of Object.entries(entries)) await archive.add(name, Buffer.from(content));
  return archive.finish();
}

async function readAll(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of readArchive(path)) found[entry.name] = (await entry.content()).toString();
  return found;
}

describe('an archive', () => {
  test('holds what was put into it, for its owner alone', async () => {
    const entries = {
      'secret.key': 'k'.repeat(32),
      empty: '',
      'database/t/000001': 'r\n'.repeat(3_000_000),
      last: '{}',
    };
    expect(await fill(entries)).toBe(statSync(path).size);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readAll()).toEqual(entries);
    expect((await verifyArchive(path, 'last')).toString()).toBe('{}');
    expect(readdirSync(dir)).toEqual(['backup']);
  });

  test('takes files as they are, also an empty one', async () => {
    writeFileSync(join(dir, 'none'), '');
    writeFileSync(join(dir, 'large'), Buffer.alloc(12 * 2 ** 20, 'x'));
    const archive = await createArchive(path);
    await archive.addFile('images/none', join(dir, 'none'), 0);
    await archive.addFile('images/large', join(dir, 'large'), 12 * 2 ** 20);
    await archive.finish();
    const found = await readAll();
    expect(found['images/none']).toBe('');
    expect(found['images/large']?.length).toBe(12 * 2 ** 20);
  });

  test('with any bit changed is refused, whichever it is', async () => {
    await fill({ 'secret.key': 'k'.repeat(32), rows: 'some rows', last: '{"format":1}' });
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at += 61) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      writeFileSync(path, changed);
      await expect(verifyArchive(path, 'last')).rejects.toThrow(/is damaged|is no backup/);
    }
    writeFileSync(path, whole);
    await verifyArchive(path, 'last');
  });

  test('that was cut short, is empty, or is something else is refused by what it is', async () => {
    await fill({ last: '{}' });
    truncateSync(path, statSync(path).size - 1);
    await expect(verifyArchive(path, 'last')).rejects.toThrow('is no backup of Muster, or was cut short');
    writeFileSync(path, '');
    await expect(verifyArchive(path, 'last')).rejects.toThrow('is no backup of Muster, or was cut short');
    writeFileSync(path, 'x'.repeat(5_000));
    await expect(verifyArchive(path, 'last')).rejects.toThrow('is no backup of Muster, or was cut short');
    await expect(verifyArchive(dir, 'last')).rejects.toThrow('is no file');
    await expect(verifyArchive(join(dir, 'none'), 'last')).rejects.toThrow('cannot be read');
  });

  test('replaces no file that is there, and removes what a killed try has left', async () => {
    writeFileSync(path, 'mine');
    await expect(createArchive(path)).rejects.toMatchObject({ exit: 5 });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    await rm(path);
    const ended = spawn('true');
    await once(ended, 'exit');
    writeFileSync(`${path}.${ended.pid}.unfinished`, 'half');
    writeFileSync(`${path}.notes`, 'kept');
    await fill({ last: '{}' });
    expect(readdirSync(dir).sort()).toEqual(['backup', 'backup.notes']);
  });

  test('that is discarded leaves nothing', async () => {
    const archive = await createArchive(path);
    await archive.add('rows', Buffer.alloc(2 ** 20));
    await archive.discard();
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('what is saved of a data directory', () => {
  test('are keys, passwords and ConfigMaps, and nothing else', () => {
    for (const name of ['secret.key', 'postgres-passwords.json', 'temporal.db', 'host-id'])
      writeFileSync(join(dir, name), name);
    for (const folder of ['configmaps/services/c', 'runs/r', 'workspaces/w', 'ssh'])
      mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(join(dir, 'configmaps/services/c/ansible.cfg'), 'cfg');
    writeFileSync(join(dir, 'runs/r/output.log'), 'log');
    expect(readSavedFiles(dir).map((file) => file.path)).toEqual([
      'secret.key',
      'postgres-passwords.json',
      'configmaps/services/c/ansible.cfg',
    ]);
  });

  test('are files of images, without work on them', () => {
    for (const folder of ['store/i1', 'jobs/j1']) mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(join(dir, 'store/i1/rootfs'), 'root');
    writeFileSync(join(dir, 'jobs/j1/rootfs'), 'work');
    expect(imageFiles(dir)).toEqual([{ path: 'images/store/i1/rootfs', from: join(dir, 'store/i1/rootfs'), size: 4 }]);
    expect(existsSync(join(dir, 'none'))).toBe(false);
    expect(imageFiles(join(dir, 'none'))).toEqual([]);
  });
});

const tmpfs = process.getuid?.() === 0 ? null : 'mounting a small disk needs root';

describeNeeding(tmpfs, 'a disk that is too small', () => {
  const KIB = 2 ** 10;
  let small: string;
  const mountOf = (kib: number) => {
    small = join(dir, 'small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k,mode=755`, 'small', small]);
  };
  afterEach(() => void execFileSync('umount', [small]));

  // Full at the first entry, at a later one, and at the very end.
  test.each<[string, number, (archive: NewArchive) => Promise<void>]>([
    [
      'by many small parts',
      64,
      async (archive: NewArchive) => {
        for (let part = 0; part < 64; part += 1) await archive.add(`part-${part}`, Buffer.alloc(4 * KIB, 'x'));
      },
    ],
    [
      'by one part larger than what waits to be written',
      1024,
      (archive: NewArchive) => archive.add('rows', Buffer.alloc(12 * KIB * KIB, 'x')),
    ],
    [
      'by the file of an image',
      1024,
      async (archive: NewArchive) => {
        const image = join(dir, 'image');
        writeFileSync(image, Buffer.alloc(12 * KIB * KIB, 'x'));
        await archive.addFile('images/large', image, 12 * KIB * KIB);
      },
    ],
    ['by its last bytes', 64, (archive: NewArchive) => archive.add('rows', Buffer.alloc(62 * KIB, 'x'))],
  ])('%s is told as such, also once the archive has broken, and nothing is left on it', async (_what, kib, write) => {
    mountOf(kib);
    const archive = await createArchive(join(small, 'backup'));
    const made = (async () => {
      await write(archive);
      await archive.add('last', Buffer.from('{}'));
      await archive.finish();
    })();
    await expect(made).rejects.toMatchObject({ code: 'ENOSPC', syscall: 'write' });
    await expect(archive.add('later', Buffer.from('x'))).rejects.toMatchObject({ code: 'ENOSPC' });
    await archive.discard();
    expect(readdirSync(small)).toEqual([]);
  });
});
