/** A session's working folder on this machine, laid out like CFS's /inventory; it holds keys, so only we may enter. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, realpath, rm, statfs } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { folderName, isFolderName } from '../../domain/runs/folder-name.ts';
import type { WorkspacePaths, Workspaces } from '../../domain/sessions/workspace.ts';
import { writePrivate } from './run-files.ts';

/** Longest folder for ssh's control sockets: their names may have 107 bytes in all, of which ssh's own part takes 60. */
const CONTROL_PATH_MAX = 45;

/**
 * Makes a folder that only we may enter. In a folder that all users share somebody else may have made one of that name:
 * whoever owns it could take over ssh connections, so such a one is refused.
 */
async function makeOwn(dir: string): Promise<void> {
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(dir);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`${dir} was made by somebody else or is open to others: remove it`);
  }
}

export function createWorkspaces(options: { dir: string; shortDir: string }): Workspaces {
  const dirOf = (sessionId: string) => join(options.dir, folderName(sessionId));
  const paths = (sessionId: string): WorkspacePaths => {
    const dir = dirOf(sessionId);
    const short = createHash('sha256').update(dir).digest('hex').slice(0, 12);
    const near = join(options.dir, '..', 'cp', short);
    return {
      dir,
      ansibleConfig: join(dir, 'ansible.cfg'),
      hosts: join(dir, 'hosts'),
      sshKey: join(dir, 'ssh', 'id'),
      sshCertificate: join(dir, 'ssh', 'id-cert.pub'),
      plainKey: join(dir, 'ssh', 'plain'),
      imageKey: join(dir, 'ssh', 'id_image'),
      knownHosts: join(dir, 'ssh', 'known_hosts'),
      controlPath: near.length <= CONTROL_PATH_MAX ? near : join(options.shortDir, `muster-cp-${short}`),
      vaultPassword: join(dir, 'ssh', 'vault-password'),
      limit: join(dir, 'limit'),
      extraVars: join(dir, 'extra-vars-'),
    };
  };
  return {
    paths,
    layerDir: (sessionId, layer) => join(dirOf(sessionId), folderName(`layer${layer}`)),
    make: async (sessionId) => {
      const made = paths(sessionId);
      for (const dir of [made.dir, join(made.dir, 'ssh'), join(made.dir, 'tmp'), dirname(made.controlPath)]) {
        await mkdir(dir, { recursive: true, mode: 0o700 });
      }
      await makeOwn(made.controlPath);
      return made;
    },
    writePrivate,
    removePrivate: (path) => rm(path, { force: true }),
    inside: async (dir, relative) => {
      try {
        const root = await realpath(dir);
        const path = await realpath(join(root, relative));
        return path.startsWith(root + sep) ? path : null;
      } catch {
        return null;
      }
    },
    remove: async (sessionId) => {
      const { dir, controlPath } = paths(sessionId);
      await rm(controlPath, { recursive: true, force: true });
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    },
    list: async () => (await readdir(options.dir).catch(() => [])).filter(isFolderName),
    free: async () => {
      await mkdir(options.dir, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(options.dir);
      return bavail * bsize;
    },
  };
}
