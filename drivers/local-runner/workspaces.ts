/** A session's working folder on this machine, laid out like CFS's /inventory; it holds keys, so only we may enter. */
import { mkdir, readdir, realpath, rm, statfs } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { folderName, isFolderName } from '../../domain/runs/folder-name.ts';
import type { WorkspacePaths, Workspaces } from '../../domain/sessions/workspace.ts';
import { controlPathOf, makeOwnFolder } from '../machine/control-path.ts';
import { writePrivate } from './run-files.ts';

export function createWorkspaces(options: { dir: string; shortDir: string }): Workspaces {
  const dirOf = (sessionId: string) => join(options.dir, folderName(sessionId));
  const paths = (sessionId: string): WorkspacePaths => {
    const dir = dirOf(sessionId);
    return {
      dir,
      ansibleConfig: join(dir, 'ansible.cfg'),
      hosts: join(dir, 'hosts'),
      sshKey: join(dir, 'ssh', 'id'),
      sshCertificate: join(dir, 'ssh', 'id-cert.pub'),
      plainKey: join(dir, 'ssh', 'plain'),
      imageKey: join(dir, 'ssh', 'id_image'),
      knownHosts: join(dir, 'ssh', 'known_hosts'),
      controlPath: controlPathOf(dir, { near: join(options.dir, '..', 'cp'), shortDir: options.shortDir }),
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
      for (const dir of [made.dir, join(made.dir, 'ssh'), join(made.dir, 'tmp')]) {
        await mkdir(dir, { recursive: true, mode: 0o700 });
      }
      await makeOwnFolder(made.controlPath);
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
