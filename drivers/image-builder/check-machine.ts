import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NEEDED, ownCapabilities } from './capabilities.ts';
import { PROGRAM_PATH } from './room.ts';

const run = promisify(execFile);

/** Programs by the Debian package that has them. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'util-linux': ['flock', 'unshare', 'setpriv', 'pivot_root'],
  mount: ['mount', 'umount'],
  hostname: ['hostname'],
  coreutils: ['du', 'rm', 'touch'],
  findutils: ['find'],
  tar: ['tar'],
  gzip: ['gzip'],
  'squashfs-tools': ['mksquashfs', 'unsquashfs'],
  'openssh-server': ['sshd'],
  'openssh-client': ['ssh-keygen'],
};
/** The login is started from where Debian has it. */
const SSHD = '/usr/sbin/sshd';

/** What keeps this machine from working on images, each with its remedy; empty when nothing does. */
export async function checkMachine(): Promise<string[]> {
  if (process.platform !== 'linux') return ['images can be worked on under Linux alone'];
  const lacking: string[] = [];
  for (const [debianPackage, programs] of Object.entries(PROGRAMS)) {
    for (const program of programs) {
      const isThere = program === 'sshd' ? await isProgram(SSHD) : await isInPath(program);
      if (!isThere) lacking.push(`${program} is not installed (Debian package ${debianPackage})`);
    }
  }
  if (process.geteuid?.() !== 0) return [...lacking, 'only root may work on root file systems'];
  const own = await ownCapabilities();
  const missing = NEEDED.filter((name) => !own.has(name));
  if (missing.length > 0) {
    return [...lacking, `root lacks capabilities here: ${missing.map((name) => name.toUpperCase()).join(', ')}`];
  }
  if (lacking.length === 0) {
    const refusal = await tryIt();
    if (refusal !== null) lacking.push(refusal);
  }
  return lacking;
}

/** Seccomp, AppArmor or an old tar may forbid what the capabilities allow. */
async function tryIt(): Promise<string | null> {
  const env = { PATH: PROGRAM_PATH, LC_ALL: 'C' };
  try {
    const namespaces = ['--mount', '--propagation', 'private', '--pid', '--uts', '--ipc', '--fork'];
    await run('unshare', [...namespaces, '--', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { env });
  } catch (error) {
    return `namespaces and mounts are refused here: ${firstLine(error)}`;
  }
  try {
    await run('tar', ['--xattrs', '--acls', '--version'], { env });
  } catch (error) {
    return `tar keeps no extended attributes: ${firstLine(error)} (Debian package tar)`;
  }
  return null;
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n')[0] ?? '';
}

async function isInPath(program: string): Promise<boolean> {
  for (const dir of PROGRAM_PATH.split(':')) if (await isProgram(join(dir, program))) return true;
  return false;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
