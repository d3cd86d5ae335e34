/** `muster backup`: composition root. Everything that lasts of a stack into one file, while the stack works. */
import { existsSync, readFileSync } from 'node:fs';
import { hostname, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { dataPaths } from '../../config/data-paths.ts';
import {
  DATABASE_FOLDER,
  databaseEntry,
  FORMAT,
  MANIFEST,
  type Manifest,
  type SavedDatabase,
} from '../../domain/backup-schema.ts';
import { saveDatabase } from '../../store/backup/save-database.ts';
import { livingState } from '../stack/other-start.ts';
import { OWN_ROLES, superuserUrl } from '../stack/postgres.ts';
import { withPostgresAlone } from '../stack/postgres-alone.ts';
import { clusterFolder, readOrMakePasswords } from '../stack/postgres-cluster.ts';
import { StackError } from '../stack/stack-error.ts';
import { lockDataDirectory } from '../stack/stack-lock.ts';
import type { StackState } from '../stack/stack-state.ts';
import { createArchive, type NewArchive } from './archive.ts';
import { imageFiles, readSavedFiles } from './saved-files.ts';

/** The API and Postgres go first where the machine has not enough cores for all. */
const LOW_PRIORITY = 10;

const compress = promisify(zstdCompress);

export interface BackupOptions {
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** The file that is made. */
  path: string;
  /** Whether the files of images go into it too. */
  images: boolean;
  say: (line: string) => void;
  signal: AbortSignal;
}

export interface BackupReport {
  path: string;
  bytes: number;
  tables: number;
  rows: number;
  files: number;
  /** What is not in it and has to be saved in another way, one sentence each. */
  missing: string[];
}

/**
 * Makes the file, for its owner alone; nothing is left of it when that fails.
 * @throws {StackError} that says why it cannot be made
 */
export async function takeBackup(options: BackupOptions): Promise<BackupReport> {
  const { dataDir, say, signal } = options;
  const path = resolve(options.path);
  const state = await livingState(dataDir);
  if (state !== null) return write(options, path, state, runningDatabase(dataDir, state));
  const hasCluster = existsSync(clusterFolder(dataDir));
  if (!hasCluster && !existsSync(dataPaths(dataDir).secretKey)) {
    throw new StackError(
      `There is no stack in ${dataDir}, so there is nothing to save. MUSTER_DATA_DIR names another one.`,
    );
  }
  const lock = await lockDataDirectory(dataDir);
  if (lock === null) throw new StackError(`The stack in ${dataDir} starts just now: wait until it is up.`, 5);
  try {
    if (!hasCluster) return await write(options, path, null, null);
    say('the stack does not run: its Postgres is started for the backup alone');
    return await withPostgresAlone(dataDir, ({ superuserUrl: url }) => write(options, path, null, url), signal);
  } finally {
    lock.close();
  }
}

/** URL of the database of a stack that runs; null where it is a server of the site. */
function runningDatabase(dataDir: string, { components }: StackState): string | null {
  const { postgres } = components;
  if (postgres?.state === 'external') return null;
  const port = Number(postgres?.address?.split(':').at(-1));
  if (postgres?.state !== 'healthy') {
    const reason = postgres?.reason ?? 'it is not up yet';
    throw new StackError(`The database of the stack does not work (${reason}): see "./muster status".`, 7);
  }
  return superuserUrl(port, readOrMakePasswords(dataDir));
}

async function write(
  options: BackupOptions,
  path: string,
  state: StackState | null,
  url: string | null,
): Promise<BackupReport> {
  const { dataDir, env, images, signal } = options;
  setPriority(LOW_PRIORITY);
  const archive = await createArchive(path).catch(refused(path));
  try {
    const saved = await savedParts(options, archive, url);
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'));
    const manifest: Manifest = {
      format: FORMAT,
      taken_at: new Date().toISOString(),
      versions: { muster: version, node: process.versions.node },
      stack: { url: state?.links.api ?? null, machine: hostname(), data_dir: dataDir },
      database: saved.database,
      images,
      digests: { ...archive.digests },
    };
    signal.throwIfAborted();
    await archive.add(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
    const bytes = await archive.finish();
    const tables = saved.database?.tables ?? [];
    return {
      path,
      bytes,
      tables: tables.length,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      files: Object.keys(manifest.digests).filter((name) => !name.startsWith(DATABASE_FOLDER)).length,
      missing: missing(env, saved.database === null, images),
    };
  } catch (error) {
    await archive.discard();
    if (signal.aborted) throw new StackError('The backup was interrupted; nothing is left of it.', 130);
    return refused(path)(error);
  }
}

async function savedParts(
  { dataDir, env, images, signal }: BackupOptions,
  archive: NewArchive,
  url: string | null,
): Promise<{ database: SavedDatabase | null }> {
  const saveFiles = async () => {
    for (const { path, content } of readSavedFiles(dataDir)) await archive.add(path, content);
  };
  const pieces = new Map<string, number>();
  const take = async (table: string, piece: Buffer) => {
    signal.throwIfAborted();
    const number = (pieces.get(table) ?? 0) + 1;
    pieces.set(table, number);
    await archive.add(databaseEntry(table, number), await compress(piece));
  };
  const database = url === null ? null : await saveDatabase({ url, ownRoles: OWN_ROLES, atInstant: saveFiles, take });
  if (database === null) await saveFiles();
  // After the records, so that every image of them has its file.
  if (images) {
    for (const { path, from, size } of imageFiles(env.MUSTER_IMAGES_DIR ?? dataPaths(dataDir).images)) {
      signal.throwIfAborted();
      await archive.addFile(path, from, size);
    }
  }
  return { database };
}

const PROBLEMS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'it may not be written there',
  EPERM: 'it may not be written there',
  EROFS: 'the file system is read only',
  ENOENT: 'its folder is not there',
  ENOTDIR: 'what should be its folder is none',
  EFBIG: 'the file may not be that large',
};

/** Says what a failure to write means; other failures stay as they are. */
function refused(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof StackError) throw error;
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    const problem = PROBLEMS[code ?? ''];
    throw new StackError(
      problem !== undefined && syscall !== undefined
        ? `The backup ${path} cannot be written: ${problem} (${message}).`
        : `The backup was not made: ${message}`,
      1,
    );
  };
}

/** Settings that name files of the site: what they name is not below the data directory. */
const FILES_OF_THE_SITE = [
  'MUSTER_TLS_CERT',
  'MUSTER_TLS_KEY',
  'MUSTER_CA_FILE',
  'MUSTER_ADMIN_TOKEN_FILE',
  'MUSTER_DATABASE_CA_FILE',
  'MUSTER_MAC_KEY_FILE',
  'MUSTER_TEMPORAL_TLS_CA',
  'MUSTER_TEMPORAL_TLS_CERT',
  'MUSTER_TEMPORAL_TLS_KEY',
  'MUSTER_ARA_CREDENTIALS_FILE',
  'MUSTER_IMS_TOKEN_FILE',
] as const;

function missing(env: NodeJS.ProcessEnv, outside: boolean, images: boolean): string[] {
  const files = FILES_OF_THE_SITE.filter((name) => env[name]);
  return [
    ...(outside
      ? [
          'the records: Postgres is a server of the site (MUSTER_DATABASE_URL): `pg_dump --format=custom` saves them, at the same time',
        ]
      : []),
    ...(env.MUSTER_SECRETS === 'kubernetes' ? ['the secrets: they are in the cluster (MUSTER_SECRETS)'] : []),
    ...(env.MUSTER_CONFIGMAPS === 'kubernetes' ? ['the ConfigMaps of the cluster (MUSTER_CONFIGMAPS)'] : []),
    ...(images ? [] : ['the files of images: `--images` saves them too']),
    ...(files.length > 0 ? [`the files that settings name: ${files.join(', ')}`] : []),
    'the settings themselves (the environment of the stack)',
  ];
}
