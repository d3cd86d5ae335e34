/** `muster restore`: composition root. An installation out of one file into an empty data directory, all of it or nothing. */
import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { endLostWork, type LostWork } from '../../control/sessions/end-lost-work.ts';
import {
  DATABASE_FOLDER,
  FORMAT,
  MANIFEST,
  type Manifest,
  ManifestSchema,
  tableOfEntry,
} from '../../domain/backup-schema.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { readHostId } from '../../drivers/machine/machine-id.ts';
import { type DatabaseLoad, loadDatabase, unknownMigrations } from '../../store/backup/load-database.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { prepareDataDirectory } from '../stack/data-directory.ts';
import { endLeftovers } from '../stack/leftovers.ts';
import type { EmbeddedPostgres } from '../stack/postgres.ts';
import { withPostgresAlone } from '../stack/postgres-alone.ts';
import { letThrough, postgresUser } from '../stack/postgres-user.ts';
import { StackError } from '../stack/stack-error.ts';
import { lockDataDirectory } from '../stack/stack-lock.ts';
import { beginRestore, completeRestore, discardRestore, restoreObstacles } from '../stack/unfinished-restore.ts';
import { type ReadEntry, readArchive, verifyArchive } from './archive.ts';
import { IMAGES_PATH, SAVED_PATHS } from './saved-files.ts';

/** How long the original is given to answer, ms: a busy machine is no sign that it is away. */
const ORIGINAL_WITHIN_MS = 15_000;
/** Names that a message lists at most. */
const LISTED = 10;

const decompress = promisify(zstdDecompress);

export interface RestoreOptions {
  dataDir: string;
  path: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

export interface RestoreReport {
  takenAt: string;
  lost: LostWork;
  /** What to take care of, one sentence each. */
  warnings: string[];
}

/**
 * Fills an empty data directory. Until all of it is there nothing of it counts; a later start finishes what was only left to be moved.
 * @throws {StackError} that says why it is not done; the data directory is as it was
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { dataDir, signal, say } = options;
  const path = resolve(options.path);
  prepareDataDirectory(dataDir);
  const lock = await lockDataDirectory(dataDir);
  if (lock === null) {
    throw new StackError(`A stack runs in ${dataDir}: a backup is restored into an empty data directory.`, 5);
  }
  try {
    const there = restoreObstacles(dataDir);
    if (there.length > 0) {
      throw new StackError(
        `${dataDir} is not empty: it holds ${someOf(there)}. Name an empty folder with MUSTER_DATA_DIR, or move that away.`,
        5,
      );
    }
    await endLeftovers(dataDir);
    say(`checking ${path}`);
    const manifest = readManifest(path, await verifyArchive(path, MANIFEST));
    const folder = await beginRestore(dataDir);
    try {
      const lost = await fill({ ...options, path }, folder, manifest);
      signal.throwIfAborted();
      completeRestore(dataDir);
      return { takenAt: manifest.taken_at, lost, warnings: await warningsOf(manifest) };
    } catch (error) {
      await discardRestore(dataDir);
      if (signal.aborted) throw new StackError('The restore was interrupted; the data directory is as it was.', 130);
      if (error instanceof StackError) throw error;
      const reason = messageOf(error);
      throw new StackError(`The backup was not restored, and the data directory is as it was: ${reason}`, 1);
    }
  } finally {
    lock.close();
  }
}

function readManifest(path: string, content: Buffer): Manifest {
  const found = JSON.parse(content.toString('utf8')) as { format?: unknown; versions?: { muster?: unknown } };
  const newer = new StackError(
    `${path} was made by a newer Muster (${found.versions?.muster}): restore it with that release, or with a later one.`,
  );
  if (typeof found.format === 'number' && found.format > FORMAT) throw newer;
  const manifest = ManifestSchema.parse(found);
  if (manifest.database !== null && unknownMigrations(manifest.database).length > 0) throw newer;
  return manifest;
}

async function fill(
  { dataDir, path, say, signal }: RestoreOptions,
  folder: string,
  manifest: Manifest,
): Promise<LostWork> {
  await readHostId(folder);
  await takeFiles(path, folder, manifest);
  const { database } = manifest;
  if (database === null) return { sessions: [], runs: 0 };
  say(`loading ${database.tables.reduce((sum, { rows }) => sum + rows, 0)} records`);
  const user = postgresUser();
  if (user) for (const each of [dataDir, folder]) letThrough(user, each);
  mkdirSync(join(folder, 'logs'), { mode: 0o700 });
  return withPostgresAlone(folder, (postgres) => fillDatabase(postgres, path, manifest, signal), signal);
}

/** All but the rows of the database. */
async function takeFiles(path: string, folder: string, manifest: Manifest): Promise<void> {
  for await (const entry of readArchive(path)) {
    if (entry.name === MANIFEST || entry.name.startsWith(DATABASE_FOLDER)) continue;
    const target = resolve(folder, entry.name);
    const known = [...SAVED_PATHS.map((saved) => saved.path), IMAGES_PATH];
    if (!known.includes(entry.name.split('/')[0] ?? '') || !target.startsWith(`${folder}/`)) {
      throw new StackError(`The backup holds ${entry.name}, which this Muster does not know.`);
    }
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const digest = createHash('sha256');
    const hashed = async function* () {
      for await (const chunk of entry.chunks()) {
        digest.update(chunk);
        yield chunk;
      }
    };
    await pipeline(Readable.from(hashed()), createWriteStream(target, { mode: 0o600, flush: true }));
    checkDigest(manifest, entry, digest.digest('hex'));
  }
}

async function fillDatabase(
  postgres: EmbeddedPostgres,
  path: string,
  { database, digests, taken_at: takenAt }: Manifest,
  signal: AbortSignal,
): Promise<LostWork> {
  if (database === null) return { sessions: [], runs: 0 };
  await postgres.ensureDatabase();
  const load: DatabaseLoad = await loadDatabase(database, { owner: postgres.url, superuser: postgres.superuserUrl });
  try {
    for await (const entry of readArchive(path)) {
      const table = tableOfEntry(entry.name);
      if (table === null) continue;
      signal.throwIfAborted();
      const packed = await entry.content();
      checkDigest({ digests }, entry, createHash('sha256').update(packed).digest('hex'));
      await load.take(table, await decompress(packed));
    }
    await load.finish();
  } finally {
    await load.close();
  }
  const db = openDatabase({ url: postgres.url, name: 'muster-restore', poolSize: 2 });
  return endLostWork(db, takenAt, new Date()).finally(() => db.destroy());
}

function checkDigest({ digests }: Pick<Manifest, 'digests'>, { name }: ReadEntry, digest: string): void {
  if (digests[name] !== digest) throw new StackError(`${name} in the backup is not what its manifest says.`);
}

async function warningsOf({ stack, database, images }: Manifest): Promise<string[]> {
  const warnings: string[] = [];
  const here = stack.machine === hostname();
  if (stack.url !== null && (await answers(stack.url))) {
    warnings.push(
      `the original answers at ${stack.url}: stop it before you start this one, or both configure the same machines`,
    );
  } else if (!here) {
    warnings.push(
      `the backup is of the stack on ${stack.machine} (${stack.data_dir}): see to it that it does not run any more`,
    );
  }
  if (database === null) {
    warnings.push(
      'the records are not in this backup: load the dump of Postgres, and set MUSTER_DATABASE_URL as before',
    );
  }
  if (!images)
    warnings.push('the files of images are not in this backup: images without file are refused until they are there');
  return warnings;
}

/** Whether anything answers there, whatever it says. */
async function answers(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ORIGINAL_WITHIN_MS) });
    return true;
  } catch (error) {
    // An answer with a certificate that is not trusted here is one too.
    const code = (error as { cause?: { code?: string } }).cause?.code ?? '';
    return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  }
}

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).join(', ');
  return names.length > LISTED ? `${shown} and ${names.length - LISTED} more` : shown;
}
