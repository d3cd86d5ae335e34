import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import type { Withheld } from '../../domain/configurations/vcs-credentials.ts';
import { publicCertificates } from './public-certificates.ts';

/** How a remote is reached; all of it reaches git by environment and files, never by its command line. */
export interface GitAccess {
  /** For http and https; blanks around both are dropped. Wins over credentials in the address. */
  credentials?: { username: string; password: string } | undefined;
  /** Why credentials that there are do not go along; a server that asks for them is answered with it. */
  withheld?: Withheld | undefined;
  /** Private key for ssh; only this one is offered. Without it ssh's own defaults hold. */
  sshKeyFile?: string | undefined;
  /** Known hosts for ssh; without it those of the user. */
  knownHostsFile?: string | undefined;
  /** `accept-new` (default) trusts an unknown host at first sight, `strict` refuses it; a changed key is refused by both. */
  hostKeys?: 'accept-new' | 'strict' | undefined;
  /** Certificates to trust besides the public ones, PEM. */
  caPem?: string | undefined;
  /** Trusts those alone: they were given for this one remote. */
  caAlone?: boolean | undefined;
}

/** Where files may be made for a moment, and where the public certificates may be. */
export interface AccessPlaces {
  tempDir: string;
  publicCaFiles: readonly string[];
}

/** Runs `work` with the environment that gives git this access; files made for it are gone afterwards. */
export async function withAccess<T>(
  access: GitAccess,
  url: RepositoryUrl,
  { tempDir, publicCaFiles }: AccessPlaces,
  work: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const env: Record<string, string> = { ...askpassEnv(access, url) };
  if (url.scheme === 'ssh') {
    env.GIT_SSH_COMMAND = sshCommand(access);
    env.GIT_SSH_VARIANT = 'ssh';
  }
  if (access.caPem === undefined) return work(env);
  const dir = await mkdtemp(join(tempDir, 'git-ca-'));
  try {
    env.GIT_SSL_CAINFO = join(dir, 'ca.pem');
    // With a file git trusts nobody else.
    const others = access.caAlone ? '' : await publicCertificates(publicCaFiles);
    await writeFile(env.GIT_SSL_CAINFO, `${access.caPem}\n${others}`, { mode: 0o600 });
    return await work(env);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function askpassEnv(access: GitAccess, url: RepositoryUrl): Record<string, string> {
  if (url.scheme !== 'http' && url.scheme !== 'https') return {};
  const username = (access.credentials?.username ?? url.username)?.trim();
  const password = (access.credentials?.password ?? url.password ?? '').trim();
  if (!username) return {};
  return {
    GIT_ASKPASS: join(import.meta.dirname, 'askpass'),
    MUSTER_GIT_SCHEME: url.scheme,
    MUSTER_GIT_HOST: url.host ?? '',
    MUSTER_GIT_USERNAME: username,
    MUSTER_GIT_PASSWORD: password,
  };
}

/** The ssh command line for git, which hands it to a shell: so every word is quoted. */
export function sshCommand(access: Pick<GitAccess, 'sshKeyFile' | 'knownHostsFile' | 'hostKeys'>): string {
  const options = [
    'BatchMode=yes',
    'LogLevel=ERROR',
    'ConnectTimeout=15',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=4',
    `StrictHostKeyChecking=${access.hostKeys === 'strict' ? 'yes' : 'accept-new'}`,
  ];
  if (access.knownHostsFile) options.push(`UserKnownHostsFile=${sshFileName(access.knownHostsFile)}`);
  if (access.sshKeyFile) {
    options.push(`IdentityFile=${sshFileName(access.sshKeyFile)}`, 'IdentitiesOnly=yes', 'IdentityAgent=none');
  }
  const words = ['ssh', '-F', '/dev/null'];
  for (const option of options) words.push('-o', option);
  return words.map(shellQuoted).join(' ');
}

/** ssh itself splits option values at blanks and expands `%` in file names. */
function sshFileName(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}

function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
