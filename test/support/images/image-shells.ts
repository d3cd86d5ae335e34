/** Real shells for the jobs of a stand-in image service: an sshd for each, whose /tmp is a folder of the job alone. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SshServer, sshMissing, startSshServer } from '../ansible/ssh-server.ts';
import { findProgram } from '../find-program.ts';
import type { FakeImageService } from './image-service-server.ts';

/** Why there can be no such shells here; null when there can. */
export function imageShellsMissing(): string | null {
  if (process.getuid?.() !== 0) return 'a private /tmp for a shell needs root';
  return sshMissing() ?? (findProgram('unshare') === null ? 'unshare is not installed (Debian: util-linux)' : null);
}

export interface ImageShellServers {
  /** The /tmp of the last shell of an image. */
  tmpOf(imageId: string): string;
  stop(): Promise<void>;
}

/** Gives each job of `service` a shell, and ends the job when a marker is set in it. */
export function serveImageShells(service: FakeImageService, dir: string): ImageShellServers {
  const folders = new Map<string, string>();
  const servers: SshServer[] = [];
  let count = 0;
  service.shellOf = async (imageId, publicKey) => {
    const folder = join(dir, `shell${count++}`);
    const tmp = join(folder, 'tmp');
    await mkdir(tmp, { recursive: true, mode: 0o777 });
    await chmod(tmp, 0o1777);
    const enter = join(folder, 'enter');
    // Any number of words that the client asked for, in a mount namespace of its own.
    const inside = `mount --bind ${tmp} /tmp && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`;
    await writeFile(enter, `#!/bin/sh\nexec unshare -m /bin/sh -c '${inside}'\n`, { mode: 0o755 });
    const server = await startSshServer(join(folder, 'sshd'), { authorizedKey: publicKey, forceCommand: enter });
    servers.push(server);
    folders.set(imageId, tmp);
    return { host: '127.0.0.1', port: server.port };
  };
  const look = setInterval(() => {
    for (const job of service.jobs.values()) {
      const tmp = folders.get(job.artifact_id);
      if (job.status !== 'waiting_on_user' || tmp === undefined) continue;
      if (existsSync(join(tmp, 'complete'))) service.complete(job);
      else if (existsSync(join(tmp, 'failed'))) service.fail(job);
    }
  }, 100);
  return {
    tmpOf: (imageId) => folders.get(imageId) ?? '',
    stop: async () => {
      clearInterval(look);
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
