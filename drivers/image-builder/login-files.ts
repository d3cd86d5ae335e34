/** The files of a login: sshd's configuration and keys, and the accounts of the room in which it runs. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { musterError } from '../../domain/errors.ts';
import type { OpenRequest } from '../../domain/images/image-builder.ts';
import type { JobFolder } from './job-folder.ts';
import { PROGRAM_PATH } from './room.ts';

const run = promisify(execFile);

const DEFAULT_ADDRESS = '127.0.0.1';

/** Of the login of any image: services are not there, and what asks whether this is a chroot hears yes. */
const ENVIRONMENT = { LANG: 'C.UTF-8', SYSTEMD_OFFLINE: '1', debian_chroot: 'image' };

/** Writes all of them; `home` and `shell` are those of root. Answers the host's public key. */
export async function writeLoginFiles(
  folder: JobFolder,
  request: OpenRequest,
  { home, shell }: { home: string; shell: string },
): Promise<string> {
  const hostKey = await makeHostKey(folder);
  await rm(folder.etc, { recursive: true, force: true });
  await mkdir(join(folder.etc, 'ssh'), { recursive: true, mode: 0o755 });
  const put = async (name: string, text: string, mode = 0o644) => {
    await writeFile(join(folder.etc, name), text, { mode });
    await chmod(join(folder.etc, name), mode);
  };
  await put('passwd', `root:*:0:0:root:${home}:${shell}\nsshd:*:74:74::/run/sshd:/usr/sbin/nologin\n`);
  await put('group', 'root:x:0:\ntty:x:5:\nsshd:x:74:\n');
  await put('nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n');
  await put('hosts', `127.0.0.1 localhost\n127.0.1.1 ${request.hostname}\n::1 localhost\n`);
  await put('resolv.conf', await readFile('/etc/resolv.conf', 'utf8').catch(() => ''));
  await put('ssh/host_key', await readFile(folder.hostKey, 'utf8'), 0o600);
  await put('ssh/authorized_keys', `${oneLine('public key', request.publicKey)}\n`, 0o600);
  await put('ssh/sshd_config', `${configuration(request).join('\n')}\n`, 0o600);
  return hostKey;
}

function configuration({ port, address, jail, environment }: OpenRequest): string[] {
  const variables = Object.entries({ ...ENVIRONMENT, ...environment }).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || /["\\\r\n\0]/.test(value)) {
      throw musterError('bad_data', `not a variable of an environment: ${name}`);
    }
    return `"${name}=${value}"`;
  });
  return [
    `Port ${port}`,
    `ListenAddress ${oneLine('address', address ?? DEFAULT_ADDRESS)}`,
    'HostKey /etc/ssh/host_key',
    'AuthorizedKeysFile /etc/ssh/authorized_keys',
    'AuthenticationMethods publickey',
    'PermitRootLogin prohibit-password',
    'AllowUsers root',
    'UsePAM no',
    'PidFile none',
    'PrintMotd no',
    'PermitUserRC no',
    'DisableForwarding yes',
    // Ansible opens a connection for each fork where it shares none.
    'MaxStartups 100',
    'MaxSessions 100',
    // Files are moved without a program of the image.
    'Subsystem sftp internal-sftp',
    `ChrootDirectory ${jail ? '/mnt/image/image-root' : 'none'}`,
    `SetEnv ${variables.join(' ')}`,
  ];
}

/** The host key of a job stays the same when its environment has to be opened again. */
async function makeHostKey(folder: JobFolder): Promise<string> {
  if ((await stat(folder.hostKey).catch(() => null)) === null) {
    const made = `${folder.hostKey}.new`;
    await rm(made, { force: true });
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', folder.jobId, '-f', made];
    await run('ssh-keygen', args, { env: { PATH: PROGRAM_PATH } });
    await rename(`${made}.pub`, `${folder.hostKey}.pub`);
    await rename(made, folder.hostKey);
  }
  return (await readFile(`${folder.hostKey}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ');
}

/** A line that is not one would say more than it was asked. */
function oneLine(what: string, text: string): string {
  const line = text.trim();
  if (line === '' || /[\r\n\0]/.test(line)) throw musterError('bad_data', `the ${what} is not one line`);
  return line;
}
