import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { FileToKeep, ImageFiles, KeptFile, ReceivedFile } from '../../domain/images/image-files.ts';
import { ARTIFACT_TYPES, FILE_NAMES } from '../../domain/images/image-format.ts';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import { makeOnce } from '../machine/make-once.ts';
import { orDiskFull } from './disk-full.ts';
import { receiveFile } from './receive-file.ts';

const MANIFEST = 'manifest.json';
const FOLDERS = { images: 'images', incoming: 'incoming', lost: 'lost' } as const;
/** File that says whose directory it is. */
const CLAIM = 'installation-id';
/** What this store itself has made: nothing else is ever read, moved or removed. */

/** Numbers of a user and a group. */
export interface FileOwner {
  uid: number;
  gid: number;
}

/**
 * Images in a directory: `images/<id>/` with the file and its manifest, `incoming/` for what is not whole yet, and `lost/<id>/` for what is
 * set aside, on the same file system, so that an image appears by one rename. `storeId` is the directory's own. With `owner` all of it belongs to that user.
 */
export async function openImageDirectory(dir: string, storeId: string, owner?: FileOwner): Promise<ImageFiles> {
  const images = join(dir, FOLDERS.images);
  const incoming = join(dir, FOLDERS.incoming);
  const lost = join(dir, FOLDERS.lost);
  const giveAway = async (path: string) => {
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  };
  for (const folder of [images, incoming]) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const folder of [incoming, images, dir]) await giveAway(folder);
  const imageDir = (id: string) => join(images, idOf(id));
  const incomingDir = (token: string) => join(incoming, idOf(token));
  const lostDir = (id: string) => join(lost, idOf(id));

  const claim: ImageFiles['claim'] = async (installation) => {
    const path = join(dir, CLAIM);
    const said = () => readFile(path, 'utf8').catch(orNull);
    let text = await said();
    if (text === null) {
      // Who may enter the folders beside it may read it, and nobody else.
      await makeOnce(path, `${installation}\n`, giveAway);
      await syncFolder(dir);
      text = await said();
    }
    return text?.trim() ?? '';
  };
  const setAside: ImageFiles['setAside'] = async (imageId) => {
    const folder = imageDir(imageId);
    // Not before it is needed: a directory that a former release has made may be one that takes nothing more, and is read all the same.
    await mkdir(lost, { recursive: true, mode: 0o700 });
    await giveAway(lost);
    // From now on its time counts, also where this breaks off: then it is younger than what is set aside.
    await utimes(folder, new Date(), new Date());
    await rm(lostDir(imageId), { recursive: true, force: true });
    await rename(folder, lostDir(imageId));
  };
  const bringBack: ImageFiles['bringBack'] = async (imageId) => {
    if ((await stat(imageDir(imageId)).catch(orNull)) === null) await rename(lostDir(imageId), imageDir(imageId));
  };

  const receive: ImageFiles['receive'] = async (source, limits) => {
    const token = randomUUID();
    const folder = incomingDir(token);
    await mkdir(folder, { mode: 0o700 });
    try {
      const path = join(folder, 'received');
      const facts = await receiveFile(source, path, limits);
      await rename(path, join(folder, FILE_NAMES[facts.format]));
      return { token, ...facts } satisfies ReceivedFile;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  };
  const keep: ImageFiles['keep'] = async ({ token, ...file }) => {
    // From here on nobody else knows the place: the next try of a job, which knows its token, may begin while this one ends.
    const folder = incomingDir(randomUUID());
    await rename(incomingDir(token), folder);
    try {
      await requireWhole(folder, file);
      const kept = await writeManifest(folder, file);
      for (const name of await readdir(folder)) await giveAway(join(folder, name));
      await giveAway(folder);
      await syncFolder(folder);
      const target = imageDir(file.imageId);
      // Left by a try before, of which no record speaks.
      await rm(target, { recursive: true, force: true });
      await rename(folder, target);
      await syncFolder(images);
      return kept;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const fileForJob: ImageFiles['fileForJob'] = async (jobId, format) => {
    const folder = incomingDir(jobId);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    return { path: join(folder, FILE_NAMES[format]), token: jobId };
  };

  return {
    storeId,
    claim: (installation) => orDiskFull(() => claim(installation)),
    receive: (source, limits) => orDiskFull(() => receive(source, limits)),
    keep: (file) => orDiskFull(() => keep(file)),
    discard: (token) => rm(incomingDir(token), { recursive: true, force: true }),
    fileForJob: (jobId, format) => orDiskFull(() => fileForJob(jobId, format)),
    fileOf: (imageId, format) => join(imageDir(imageId), FILE_NAMES[format]),
    read: async (imageId, format) => {
      const path = join(imageDir(imageId), FILE_NAMES[format]);
      const { size } = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        throw musterError('image_file_missing', `The file of image ${imageId} is not in the directory of images`);
      });
      return { size, bytes: bytesOf(path) };
    },
    remove: async (imageId) => {
      for (const folder of [imageDir(imageId), lostDir(imageId)]) await rm(folder, { recursive: true, force: true });
    },
    setAside,
    bringBack,
    free: async () => {
      const { bavail, bsize } = await statfs(images);
      return bavail * bsize;
    },
    aside: (olderThanMs) => idleFolders(lost, olderThanMs),
    list: (olderThanMs) => idleFolders(images, olderThanMs),
    stale: (olderThanMs) => idleFolders(incoming, olderThanMs),
  };
}

/** Opened when somebody reads it, closed when he stops. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

/** An id may become a path; a text of another form never does. */
function idOf(id: string): string {
  if (!isWrittenUuid(id)) throw new Error('not the id of an image');
  return id;
}

/** For what is not there; every other failure is one. */
function orNull(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

/** Throws unless the file is there with all its bytes: another try may have begun anew in its place. */
async function requireWhole(folder: string, { imageId, facts }: Omit<FileToKeep, 'token'>): Promise<void> {
  const size = (await stat(join(folder, FILE_NAMES[facts.format])).catch(() => null))?.size ?? null;
  if (size !== facts.size) throw new Error(`the file of image ${imageId} has ${size} bytes instead of ${facts.size}`);
}

async function writeManifest(folder: string, { imageId, created, facts }: FileToKeep): Promise<KeptFile> {
  const place = (name: string) => `${FOLDERS.images}/${imageId}/${name}`;
  const { format, size, md5, sha256 } = facts;
  const link = { type: 'file', path: place(FILE_NAMES[format]), etag: md5 };
  const manifest = {
    version: '1.0',
    created: created.toISOString(),
    artifacts: [{ link, md5, sha256, size, type: ARTIFACT_TYPES[format] }],
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(folder, MANIFEST), text, { mode: 0o600, flush: true });
  return { path: place(MANIFEST), etag: createHash('md5').update(text).digest('hex') };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Names of folders in which nothing was written for so long, ms, the oldest first; none where their own folder is not there. */
async function idleFolders(dir: string, olderThanMs: number): Promise<string[]> {
  const found: { name: string; idle: number }[] = [];
  for (const name of (await readdir(dir).catch(orNull)) ?? []) {
    if (!isWrittenUuid(name)) continue;
    const idle = await idleMs(join(dir, name));
    if (idle >= olderThanMs) found.push({ name, idle });
  }
  return found.sort((a, b) => b.idle - a.idle).map(({ name }) => name);
}

/** How long nothing in a folder was written, ms. */
async function idleMs(folder: string): Promise<number> {
  const times = [(await stat(folder).catch(() => null))?.mtimeMs ?? Date.now()];
  for (const name of await readdir(folder).catch(() => [])) {
    times.push((await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? Date.now());
  }
  return Date.now() - Math.max(...times);
}
