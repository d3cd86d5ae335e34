import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { SshServer } from './ssh-server.ts';

const run = promisify(execFile);

/** Whether the server lets the running user in with this key and the certificate beside it, if there is one. */
export async function canLogIn(server: Pick<SshServer, 'port' | 'user'>, keyFile: string): Promise<boolean> {
  const options = [
    'BatchMode=yes',
    'ControlMaster=no',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    `IdentityFile=${keyFile}`,
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
  ].flatMap((option) => ['-o', option]);
  try {
    const { stdout } = await run('ssh', [
      ...['-F', '/dev/null', ...options, '-p', String(server.port)],
      `${server.user}@127.0.0.1`,
      'echo in',
    ]);
    return stdout === 'in\n';
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    if (/Permission denied/.test(stderr ?? '')) return false;
    throw error;
  }
}
