import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { findProgram } from '../find-program.ts';
import { freePort } from '../free-port.ts';

export interface SshServer {
  /** Folder of its files: `sshd_config`, `sshd.pid`. */
  dir: string;
  port: number;
  user: string;
  /** Private key that the server accepts. */
  keyFile: string;
  /** Line for a known_hosts file. */
  knownHosts: string;
  stop(): Promise<void>;
}

/** Why a real sshd cannot be used on this machine, `null` when it can. */
export function sshMissing(): string | null {
  if (findProgram('sshd') === null) return 'sshd is not installed (Debian: openssh-server)';
  if (findProgram('ssh-keygen') === null) return 'ssh-keygen is not installed (Debian: openssh-client)';
  return null;
}

/**
 * A real sshd on a free port of 127.0.0.1 with keys of its own in `dir`, which accepts one key for the running user; with
 * `trustedAuthorities` (lines of public keys) it accepts no key, only certificates of these, and with null nobody at all;
 * `authorizedKey` is accepted in place of its own; `environment` is what its sessions find; `forceCommand` is run in place of what is asked for; with `exposesAuth` a command
 * finds in the file SSH_USER_AUTH what it was let in for.
 */
export async function startSshServer(
  dir: string,
  options: {
    trustedAuthorities?: string | null;
    authorizedKey?: string;
    environment?: Readonly<Record<string, string>>;
    forceCommand?: string;
    exposesAuth?: boolean;
  } = {},
): Promise<SshServer> {
  const { trustedAuthorities, authorizedKey, environment = {}, forceCommand, exposesAuth = false } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const keyFile = join(dir, 'client_key');
  for (const file of ['host_key', 'client_key']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, file)]);
  }
  await copyFile(`${keyFile}.pub`, join(dir, 'authorized_keys'));
  if (authorizedKey !== undefined) await writeFile(join(dir, 'authorized_keys'), `${authorizedKey}\n`);
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const authorities = join(dir, 'trusted-user-ca-keys.pem');
  if (typeof trustedAuthorities === 'string') await writeFile(authorities, trustedAuthorities);
  const port = await freePort();
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(dir, 'host_key')}`,
    ...(trustedAuthorities === undefined
      ? [`AuthorizedKeysFile ${join(dir, 'authorized_keys')}`]
      : ['AuthorizedKeysFile none', ...(trustedAuthorities === null ? [] : [`TrustedUserCAKeys ${authorities}`])]),
    `PidFile ${join(dir, 'sshd.pid')}`,
    'UsePAM no',
    'StrictModes no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 100',
    // To bash, a shell inside another one: it does not read the ~/.bashrc of whoever runs the tests, which may start anything.
    ['SetEnv SHLVL=2', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)].join(' '),
    ...(exposesAuth ? ['ExposeAuthInfo yes'] : []),
    ...(forceCommand === undefined ? [] : [`ForceCommand ${forceCommand}`]),
    '',
  ];
  await writeFile(join(dir, 'sshd_config'), lines.join('\n'));
  const server = spawn(findProgram('sshd') ?? 'sshd', ['-D', '-e', '-f', join(dir, 'sshd_config')], {
    stdio: 'ignore',
  });
  await untilListening(port);
  const hostKey = (await readFile(join(dir, 'host_key.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
  return {
    dir,
    port,
    user: userInfo().username,
    keyFile,
    knownHosts: `[127.0.0.1]:${port} ${hostKey}\n`,
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill('SIGTERM');
      await once(server, 'exit');
    },
  };
}

async function untilListening(port: number): Promise<void> {
  await eventually(`sshd listens on port ${port}`, async () => {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    return isOpen;
  });
}
