/** Real logins into an image under work. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface LoginKey {
  file: string;
  publicKey: string;
}

/** A new key pair in `dir`. */
export function makeLoginKey(dir: string, name = 'id_image'): LoginKey {
  const file = join(dir, name);
  rmSync(file, { force: true });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8') };
}

export interface LoginResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Options by which ssh uses this key alone, asks nothing and shares no connection. */
export function sshOptions(key: LoginKey, knownHosts = '/dev/null'): string[] {
  const strict = knownHosts === '/dev/null' ? 'no' : 'yes';
  return [
    ...[
      '-F',
      '/dev/null',
      '-i',
      key.file,
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      'BatchMode=yes',
      '-o',
      'ConnectTimeout=60',
    ],
    ...['-o', `StrictHostKeyChecking=${strict}`, '-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'ControlPath=none'],
    ...['-o', 'LogLevel=ERROR'],
  ];
}

/** Runs a command in the image as a user would. */
export function inImage(
  port: number,
  key: LoginKey,
  command: string,
  { user = 'root', host = '127.0.0.1', knownHosts }: { user?: string; host?: string; knownHosts?: string } = {},
): Promise<LoginResult> {
  const args = [...sshOptions(key, knownHosts), '-p', String(port), `${user}@${host}`, command];
  return new Promise((resolve) => {
    execFile('ssh', args, { timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr });
    });
  });
}
