/** Root file systems for tests: a tiny one of busybox, and a real Debian that is made once and kept in the cache. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../find-program.ts';

const run = promisify(execFile);

const COMMANDS = [
  'sh',
  'ls',
  'cat',
  'ps',
  'id',
  'hostname',
  'mknod',
  'mount',
  'setsid',
  'sleep',
  'touch',
  'env',
  'nc',
  'dd',
];

/** Why root file systems cannot be worked on here, `null` when they can. */
export function imagesMissing(programs: string[] = []): string | null {
  if (process.getuid?.() !== 0) return 'only root may work on root file systems';
  const packages: Record<string, string> = {
    busybox: 'busybox-static',
    mksquashfs: 'squashfs-tools',
    sshd: 'openssh-server',
    ssh: 'openssh-client',
    python3: 'python3',
    mmdebstrap: 'mmdebstrap',
    setcap: 'libcap2-bin',
  };
  for (const program of ['busybox', 'mksquashfs', 'sshd', 'ssh', 'python3', ...programs]) {
    if (findProgram(program) === null) return `${program} is not installed (Debian: ${packages[program]})`;
  }
  return null;
}

/** Makes a root with a shell and some programs in `root`; /etc/resolv.conf is a link that leads nowhere. */
export async function makeBusyboxRoot(root: string): Promise<void> {
  for (const dir of ['bin', 'dev', 'etc', 'proc', 'root', 'tmp', 'usr/sbin'])
    await mkdir(join(root, dir), { recursive: true });
  await copyFile(findProgram('busybox') ?? 'busybox', join(root, 'bin/busybox'));
  for (const command of COMMANDS) await symlink('busybox', join(root, 'bin', command));
  await symlink('../run/resolved/stub.conf', join(root, 'etc/resolv.conf'));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/no-such-shell\n');
  execFileSync('chmod', ['1777', join(root, 'tmp')]);
}

/** A tar of the tiny root, in `dir`. */
export async function makeBusyboxTar(dir: string): Promise<string> {
  const root = await mkdtemp(join(dir, 'busybox-'));
  await run('chmod', ['755', root]);
  await makeBusyboxRoot(root);
  const file = join(dir, 'busybox.tar');
  await run('tar', ['-C', root, '-cf', file, '.']);
  await rm(root, { recursive: true });
  return file;
}

/** A tar of a minimal Debian with python3 and setcap; half a minute the first time. */
export async function debianTar(): Promise<string> {
  const cache = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');
  const file = join(cache, 'debian-bookworm-root-2.tar');
  if (existsSync(file)) return file;
  await mkdir(cache, { recursive: true });
  const made = await mkdtemp(join(tmpdir(), 'debian-root-'));
  try {
    const tar = join(made, 'root.tar');
    await run('mmdebstrap', ['--variant=minbase', '--include=python3,libcap2-bin', 'bookworm', tar]);
    await run('mv', [tar, `${file}.${process.pid}`]);
    await rename(`${file}.${process.pid}`, file);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return file;
}

/** Asks for everything that a file system keeps of each entry; names and contents are shown as hexadecimal digits. */
const DESCRIBE = `
import hashlib, json, os, stat, sys
root = os.fsencode(sys.argv[1])
links = {}
entries = {}
for folder, dirs, files in os.walk(root):
    dirs.sort()
    for path in [folder] if folder == root else []: dirs.insert(0, b'.')
    for name in sorted(dirs + files):
        path = os.path.normpath(os.path.join(folder, name))
        info = os.lstat(path)
        key = (info.st_dev, info.st_ino)
        inside = os.path.relpath(path, root)
        entry = {'mode': oct(info.st_mode), 'owner': [info.st_uid, info.st_gid], 'mtime': str(info.st_mtime_ns)}
        entry['xattrs'] = {a: os.getxattr(path, a, follow_symlinks=False).hex() for a in sorted(os.listxattr(path, follow_symlinks=False))}
        if stat.S_ISREG(info.st_mode):
            entry['size'] = info.st_size
            entry['content'] = hashlib.sha256(open(path, 'rb').read()).hexdigest()
            if info.st_nlink > 1: entry['same'] = links.setdefault(key, repr(inside))
        if stat.S_ISLNK(info.st_mode): entry['link'] = repr(os.readlink(path))
        if stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode): entry['device'] = [os.major(info.st_rdev), os.minor(info.st_rdev)]
        entries[repr(inside)] = entry
    if b'.' in dirs: dirs.remove(b'.')
json.dump(entries, sys.stdout)
`;

export type Tree = Record<string, Record<string, unknown>>;

/** Every entry of a folder with all that is kept of it. With `seconds` times are cut to these, as squashfs keeps them. */
export async function describeTree(root: string, { seconds = false }: { seconds?: boolean } = {}): Promise<Tree> {
  const { stdout } = await run('python3', ['-c', DESCRIBE, root], { maxBuffer: 256 * 1024 * 1024 });
  const tree = JSON.parse(stdout) as Tree;
  if (seconds) for (const entry of Object.values(tree)) entry.mtime = String(entry.mtime).slice(0, -9);
  return tree;
}
