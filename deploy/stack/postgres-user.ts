/** Postgres refuses to run as root, so under root it runs as the user `postgres`. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../domain/text/message-of.ts';
import { StackError } from './stack-error.ts';

const NAME = 'postgres';

export interface User {
  uid: number;
  gid: number;
}

/** How a Postgres program is started: as we are, as another user, or through `setpriv`. */
export interface Launch {
  user: User | undefined;
  command(file: string, args: string[]): { file: string; args: string[] };
}

/**
 * The user Postgres runs as: undefined (ourselves) unless we are root; then `postgres`, which is made when it is missing.
 * @throws {StackError} when it cannot be made
 */
export function postgresUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = lookUp();
  if (known) return known;
  try {
    const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME];
    execFileSync('useradd', args, { stdio: 'pipe' });
  } catch (error) {
    const reason = messageOf(error);
    throw new StackError(`Postgres does not run as root, and the user ${NAME} could not be made: ${reason}`);
  }
  const made = lookUp();
  if (!made) throw new StackError(`The user ${NAME} was made but is not in /etc/passwd.`);
  return made;
}

/**
 * Lets the user reach its files below the data directory: that directory may be passed through by the user's group, not
 * read. Where a folder above is closed (a checkout in /root), the process gets the one capability to pass through
 * folders instead, because folders that are not ours are not opened to others.
 * @param paths the data directory first, then files and folders the user must reach
 */
export function launchAs(user: User | undefined, dataDir: string, paths: string[]): Launch {
  const plain: Launch = { user, command: (file, args) => ({ file, args }) };
  if (!user) return plain;
  letThrough(user, dataDir);
  if (paths.every((path) => canReach(path, user))) return plain;
  const capability = readingCapability();
  const options = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  options.push(`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`);
  return { user: undefined, command: (file, args) => ({ file: 'setpriv', args: [...options, '--', file, ...args] }) };
}

/** Lets the user's group pass through a folder that was closed to all others. */
export function letThrough(user: User, folder: string): void {
  if ((statSync(folder).mode & 0o777) !== 0o700) return;
  chownSync(folder, -1, user.gid);
  chmodSync(folder, 0o710);
}

/** Whether the user may pass through every folder above the path. */
export function canReach(path: string, user: User): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

const CAP_DAC_OVERRIDE = 1n;
const CAP_DAC_READ_SEARCH = 2n;

/** The smaller capability that is enough; containers often have only the larger one. */
function readingCapability(): string {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const has = (bit: bigint) => (BigInt(`0x${bounding}`) & (1n << bit)) !== 0n;
  if (has(CAP_DAC_READ_SEARCH)) return 'dac_read_search';
  if (has(CAP_DAC_OVERRIDE)) return 'dac_override';
  throw new StackError(
    `The user ${NAME} cannot reach the data directory or the programs: a folder above them is closed to others. ` +
      'Put the checkout and MUSTER_DATA_DIR below a folder that others may pass through.',
  );
}

function lookUp(): User | undefined {
  const line = readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${NAME}:[^:]*:(\\d+):(\\d+):`, 'm'));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined;
}
