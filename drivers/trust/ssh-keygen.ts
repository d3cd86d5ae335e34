/** The program that makes keys and certificates for ssh. Secrets reach it by files that only we may read, and are gone afterwards. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { musterError } from '../../domain/errors.ts';

const run = promisify(execFile);
/** For one key or certificate, ms; it takes some hundredths of a second. */
const PATIENCE = 10_000;
/** Hosts whose clock is so far behind take a new certificate all the same. */
const CLOCK_SKEW = '-5m';

export interface SshKeygenOptions {
  /** Folder for files that live for a moment; only we may enter it. */
  tempDir: string;
  /** PATH on which the program is looked for. */
  searchPath: string;
}

export type SshKeygen = ReturnType<typeof openSshKeygen>;

/** Failures are `trust_unavailable` and name the program's own last words. */
export function openSshKeygen({ tempDir, searchPath }: SshKeygenOptions) {
  const keygen = async (args: string[]): Promise<string> => {
    try {
      const { stdout } = await run('ssh-keygen', args, { timeout: PATIENCE, env: { PATH: searchPath, LC_ALL: 'C' } });
      return stdout;
    } catch (error) {
      throw musterError('trust_unavailable', reasonOf(error));
    }
  };
  const inFolder = async <T>(work: (dir: string) => Promise<T>): Promise<T> => {
    const dir = await mkdtemp(join(tempDir, 'keygen-'));
    try {
      return await work(dir);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  };
  const put = (path: string, text: string) => writeFile(path, text, { mode: 0o600 });

  return {
    /** A new key pair (Ed25519), the public half with `comment`. */
    makeKeyPair: (comment: string): Promise<{ privateKey: string; publicKey: string }> =>
      inFolder(async (dir) => {
        const file = join(dir, 'key');
        await keygen(['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file]);
        const publicKey = (await readFile(`${file}.pub`, 'utf8')).trim();
        return { privateKey: await readFile(file, 'utf8'), publicKey };
      }),

    /** Line of the public half of a private key without passphrase. */
    publicKeyOf: (privateKey: string): Promise<string> =>
      inFolder(async (dir) => {
        const file = join(dir, 'key');
        await put(file, privateKey);
        return (await keygen(['-y', '-P', '', '-f', file])).trim();
      }),

    /** A certificate for users, one line, good from now on. */
    signUserKey: (request: {
      authorityKey: string;
      publicKey: string;
      keyId: string;
      principals: readonly string[];
      ttlSeconds: number;
    }): Promise<string> =>
      inFolder(async (dir) => {
        const [authority, key] = [join(dir, 'authority'), join(dir, 'key')];
        await put(authority, request.authorityKey);
        await put(`${key}.pub`, `${request.publicKey}\n`);
        const time = `${CLOCK_SKEW}:+${request.ttlSeconds}s`;
        const serial = String(Math.floor(Date.now() / 1000));
        const names = request.principals.join(',');
        await keygen(['-q', '-s', authority, '-I', request.keyId, '-n', names, '-V', time, '-z', serial, `${key}.pub`]);
        return (await readFile(`${key}-cert.pub`, 'utf8')).trim();
      }),
  };
}

function reasonOf(error: unknown): string {
  const { code, stderr } = error as { code?: unknown; stderr?: string };
  if (code === 'ENOENT') return 'ssh-keygen is not installed (Debian package openssh-client)';
  const last = (stderr ?? '').trim().split('\n').at(-1);
  return `ssh-keygen failed: ${last || `it ended with ${String(code ?? 'a signal')}`}`;
}
