/**
 * The file of a backup: a tar archive, which every tar can list, and behind it one line with the SHA-256 of all before. A file that was
 * cut short, or in which one bit is another, is noticed before anything is taken out of it.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract, type Pack, pack } from 'tar-stream';
import { StackError } from '../stack/stack-error.ts';

const SEAL = 'muster-backup sha256 ';
const SEAL_BYTES = SEAL.length + 64 + 1;
/** Bytes that wait to be written at most. */
const QUEUED_BYTES = 8 * 2 ** 20;
const MODE = 0o600;

const sealOf = (digest: string): string => `${SEAL}${digest}\n`;

/** A new archive that is nobody's until it is finished. */
export interface NewArchive {
  add(name: string, content: Buffer): Promise<void>;
  addFile(name: string, from: string, size: number): Promise<void>;
  /** SHA-256 of every entry so far. */
  readonly digests: Readonly<Record<string, string>>;
  /** Closes it, and gives it its name; answers its size. */
  finish(): Promise<number>;
  /** Removes it. */
  discard(): Promise<void>;
}

/**
 * Begins the file under another name beside it, for its owner alone. What earlier tries left there that were killed is removed.
 * @throws {StackError} when the name is taken
 */
export async function createArchive(path: string): Promise<NewArchive> {
  if ((await stat(path).catch(() => null)) !== null) {
    throw new StackError(`${path} is there already: choose another name, or move that file away.`, 5);
  }
  await removeLeftovers(path);
  const unfinished = `${path}.${process.pid}.unfinished`;
  let made = unfinished;
  const file = await open(unfinished, 'wx', MODE);
  const archive = pack();
  const digests: Record<string, string> = {};
  const whole = createHash('sha256');
  let queued = 0;
  let size = 0;
  let wake: () => void = () => undefined;
  let failure: unknown;
  const written = (async () => {
    for await (const chunk of archive as AsyncIterable<Buffer>) {
      whole.update(chunk);
      await writeWhole(file, chunk);
      size += chunk.length;
      queued -= chunk.length;
      wake();
    }
  })();
  // What goes wrong is told by the loop that writes.
  archive.on('error', () => undefined);
  written.catch((error: unknown) => {
    failure = error;
    wake();
  });
  const broken = written.then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);
  /** Fails as writing does: what a broken archive itself says hides the reason, and its entries wait for ever. */
  const unlessBroken = async <T>(step: () => T | Promise<T>): Promise<T> => {
    try {
      return await Promise.race([step(), broken]);
    } catch (error) {
      if (archive.destroyed) await written;
      throw error;
    }
  };
  const room = async () => {
    while (queued > QUEUED_BYTES && failure === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
  };
  return {
    digests,
    add: async (name, content) => {
      digests[name] = createHash('sha256').update(content).digest('hex');
      queued += content.length;
      await unlessBroken(() => archive.entry({ name, mode: MODE, size: content.length }, content));
      await room();
    },
    addFile: async (name, from, bytes) => {
      const passed = async (length: number) => {
        queued += length;
        await room();
      };
      digests[name] = await unlessBroken(() => packFile(archive, name, from, bytes, passed));
    },
    finish: async () => {
      await unlessBroken(() => archive.finalize());
      await written;
      await writeWhole(file, Buffer.from(sealOf(whole.digest('hex'))));
      await file.sync();
      await file.close();
      await rename(unfinished, path);
      made = path;
      await syncFolder(dirname(path));
      return size + SEAL_BYTES;
    },
    discard: async () => {
      archive.destroy();
      await file.close().catch(() => undefined);
      await rm(made, { force: true });
    },
  };
}

async function packFile(
  archive: Pack,
  name: string,
  from: string,
  size: number,
  passed: (length: number) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256');
  const entry = archive.entry({ name, mode: MODE, size });
  // No more than it was when its size was noted; a file without any byte has no first one.
  const content = size === 0 ? [] : (createReadStream(from, { end: size - 1 }) as AsyncIterable<Buffer>);
  for await (const chunk of content) {
    digest.update(chunk);
    if (!entry.write(chunk)) await once(entry as unknown as NodeJS.EventEmitter, 'drain');
    await passed(chunk.length);
  }
  entry.end(null);
  return digest.digest('hex');
}

async function writeWhole(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Unfinished files of this name whose process has ended. */
async function removeLeftovers(path: string): Promise<void> {
  const start = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    const pid = name.startsWith(start) ? /^(\d+)\.unfinished$/.exec(name.slice(start.length))?.[1] : undefined;
    if (pid !== undefined && !(await stat(`/proc/${pid}`).catch(() => null))) {
      await rm(join(dirname(path), name), { force: true });
    }
  }
}

/**
 * Reads the whole file and answers one of its entries, its last one.
 * @throws {StackError} that says that it is no backup, or is damaged
 */
export async function verifyArchive(path: string, last: string): Promise<Buffer> {
  const damaged = (what: string) => new StackError(`${path} ${what}: it is not restored. Take another backup.`);
  const found = await stat(path).catch((error: Error) => {
    throw new StackError(`${path} cannot be read: ${error.message}`);
  });
  if (!found.isFile()) throw new StackError(`${path} is no file.`);
  const end = found.size - SEAL_BYTES;
  if (end <= 0) throw damaged('is no backup of Muster, or was cut short');
  const seal = await readEnd(path, end);
  if (!seal.startsWith(SEAL)) throw damaged('is no backup of Muster, or was cut short');
  const digest = createHash('sha256');
  await pipeline(createReadStream(path, { end: end - 1 }), digest);
  if (sealOf(digest.digest('hex')) !== seal) throw damaged('is damaged (its checksum is another one)');
  for await (const entry of readArchive(path)) {
    const content = entry.name === last ? await entry.content() : null;
    if (content !== null) return content;
  }
  throw damaged(`has no ${last}`);
}

async function readEnd(path: string, from: number): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of createReadStream(path, { start: from })) parts.push(chunk as Buffer);
  return Buffer.concat(parts).toString('latin1');
}

/** One entry of an archive; what is not asked for is passed over. */
export interface ReadEntry {
  name: string;
  size: number;
  content(): Promise<Buffer>;
  chunks(): AsyncIterable<Buffer>;
}

/** The entries one after the other. */
export async function* readArchive(path: string): AsyncGenerator<ReadEntry> {
  const end = (await stat(path)).size - SEAL_BYTES;
  const source = createReadStream(path, { end: end - 1 });
  const entries = extract();
  const fed = pipeline(source, entries as unknown as NodeJS.WritableStream);
  fed.catch(() => undefined);
  for await (const entry of entries) {
    let taken = false;
    const chunks = async function* () {
      taken = true;
      for await (const chunk of entry) yield chunk as Buffer;
    };
    yield {
      name: entry.header.name,
      size: entry.header.size,
      chunks,
      content: async () => {
        const parts: Buffer[] = [];
        for await (const chunk of chunks()) parts.push(chunk);
        return Buffer.concat(parts);
      },
    };
    if (!taken) entry.resume();
  }
  await fed;
}
