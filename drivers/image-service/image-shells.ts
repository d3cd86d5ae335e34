/** Commands in the shells of image jobs, by the ssh program: as root, with the session's key, whatever host key is shown. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { ImageCommand, ImageShells } from '../../domain/sessions/ports.ts';

/** To connect, seconds (cfs-flows 3.3). */
const CONNECT = 5;
/** For a command from connecting to its end, ms. */
const PATIENCE = 15_000;

export function createImageShells(options: {
  /** Folder for files that live for a moment; only we may enter it. */
  tempDir: string;
  /** PATH on which ssh is looked for. */
  searchPath: string;
  /** Who logs in. Default root. */
  user?: string;
}): ImageShells {
  const { tempDir, searchPath, user = 'root' } = options;
  return {
    /** Runs a command; answers null when it ended with 0, else what kept it from that. Throws when ssh cannot be run at all. */
    async run({ host, port, privateKey, command, signal }: ImageCommand): Promise<string | null> {
      const dir = await mkdtemp(join(tempDir, 'image-'));
      try {
        const key = join(dir, 'id_image');
        await writeFile(key, privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`, { mode: 0o600 });
        const settings = [
          'BatchMode=yes',
          `ConnectTimeout=${CONNECT}`,
          'ControlMaster=no',
          'ControlPath=none',
          'IdentitiesOnly=yes',
          'IdentityAgent=none',
          'StrictHostKeyChecking=no',
          'UserKnownHostsFile=/dev/null',
          'GlobalKnownHostsFile=/dev/null',
          'LogLevel=ERROR',
        ].flatMap((setting) => ['-o', setting]);
        const args = [
          '-F',
          '/dev/null',
          '-T',
          ...settings,
          '-i',
          key,
          '-l',
          user,
          '-p',
          String(port),
          '--',
          host,
          command,
        ];
        return await runSsh(args, searchPath, signal);
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    },
  };
}

function runSsh(args: string[], searchPath: string, signal: AbortSignal): Promise<string | null> {
  const env = { PATH: searchPath, LC_ALL: 'C' };
  return new Promise((resolve, reject) => {
    const child = execFile(
      'ssh',
      args,
      { timeout: PATIENCE, killSignal: 'SIGKILL', env, signal },
      (error, _, stderr) => {
        if (error === null) return resolve(null);
        if (signal.aborted) return reject(error);
        if (error.code === 'ENOENT') {
          return reject(musterError('image_job_failed', 'ssh is not installed (Debian package openssh-client)'));
        }
        const last = stderr.trim().split('\n').at(-1);
        resolve(last || (error.killed ? `no answer within ${PATIENCE / 1000} s` : `exit status ${error.code}`));
      },
    );
    child.stdin?.end();
  });
}
