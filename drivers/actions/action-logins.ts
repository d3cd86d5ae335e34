/** Files by which an action logs in at its host. They lie in the folder of its run, and go with what else the action found there. */
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActionLogins } from '../../domain/propagation/ports.ts';
import { runPaths, writePrivate } from '../local-runner/run-files.ts';
import { controlPathOf, makeOwnFolder } from '../machine/control-path.ts';

/** @param shortDir a folder that all users share, for sockets whose names would else be too long */
export function createActionLogins({ runsDir, shortDir }: { runsDir: string; shortDir: string }): ActionLogins {
  const folder = (runId: string) => join(runPaths(runsDir, runId).action, 'ssh');
  const paths = (runId: string) => {
    const dir = folder(runId);
    return {
      ownKey: join(dir, 'own'),
      sshKey: join(dir, 'id'),
      sshCertificate: join(dir, 'id-cert.pub'),
      plainKey: join(dir, 'plain'),
      knownHosts: join(dir, 'known_hosts'),
      vaultPassword: join(dir, 'vault-password'),
      controlPath: controlPathOf(dir, { near: join(runsDir, '..', 'cp'), shortDir }),
    };
  };
  return {
    paths,
    make: async (runId) => {
      await mkdir(folder(runId), { recursive: true, mode: 0o700 });
      await makeOwnFolder(paths(runId).controlPath);
    },
    writePrivate,
    exists: (path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    removePrivate: (path) => rm(path, { force: true }),
    remove: async (runId) => {
      await rm(folder(runId), { recursive: true, force: true });
      await rm(paths(runId).controlPath, { recursive: true, force: true });
    },
  };
}
