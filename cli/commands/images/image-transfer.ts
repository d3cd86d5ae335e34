import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { StoredImageView } from '../../../domain/images/schema.ts';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { mayBeDone } from '../../client/transport-failure.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted, usage } from '../../failure.ts';
import { packFolder } from './pack-folder.ts';

/** Between two words about the progress, ms. */
const TELL_MS = 2_000;

/** Sends a file, a folder as a tar, or stdin (`-`) as a new image; what arrives is compared with what was sent. */
export async function sendFile(
  context: CliContext,
  api: ApiClient,
  path: string,
  file: string,
  { name, ...query }: Query,
): Promise<StoredImageView> {
  const called = name ?? (file === '-' ? '' : basename(resolve(file)));
  if (called === '') throw usage(`${file === '-' ? 'stdin' : file} has no name`, 'give one with --name');
  const ending = new AbortController();
  const { source, total } = await sourceOf(context, file, AbortSignal.any([context.signal, ending.signal]));
  const hash = createHash('sha256');
  let trouble: CliFailure | undefined;
  let isSent = false;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* counted(source, hash, progress(context, 'sent', total));
      isSent = true;
    } catch (error) {
      if (!context.signal.aborted) trouble = error instanceof CliFailure ? error : notRead(file, error);
      throw error;
    }
  }
  const sending = api.open(
    { method: 'POST', path, query: { ...query, name: called } },
    {
      headers: { 'content-type': 'application/octet-stream' },
      stream: Readable.toWeb(Readable.from(watched())) as ReadableStream,
    },
  );
  const image = await sending
    .then((response) => response.json() as Promise<StoredImageView>)
    // What breaks off the body is the reason, not that the exchange broke off.
    .catch((error: unknown) => {
      if (!context.signal.aborted) throw trouble ?? (isSent ? afterSending(error) : error);
      if (!isSent) throw interrupted('before the whole file was sent: there is no new image');
      throw interrupted('after the whole file was sent: the image may be there, see `./muster image list`');
    })
    .finally(() => ending.abort());
  if (image.sha256 === hash.digest('hex')) return image;
  await api.json({ method: 'DELETE', path: `${path}/${image.id}` });
  throw new CliFailure('checksum_wrong', `${file} did not arrive as it was sent; the image was removed`, EXIT.failed);
}

/** The failure of an exchange whose request was sent whole: nobody knows what became of it where no answer came. */
function afterSending(error: unknown): unknown {
  if (error instanceof CliFailure && !mayBeDone(error)) return error;
  const { code, exit } = error instanceof CliFailure ? error : { code: 'unreachable', exit: EXIT.unreachable };
  const why = error instanceof CliFailure ? error.message : 'the connection broke off in the middle of the answer';
  return new CliFailure(code, `${why}: the image may be there, see \`./muster image list\``, exit);
}

/**
 * Writes what is answered to a file, which appears when it is whole and its checksum is right. Until then it has a name of its own beside
 * it: another export may be on its way to the same file. Answers its size.
 */
export async function receiveFile(
  context: CliContext,
  api: ApiClient,
  path: string,
  file: string,
  wanted: { force: boolean; sha256: string | null; total: number | null },
): Promise<number> {
  if (file === '-') throw usage('an image is exported to a file, not to stdout', 'name one that is to be written');
  await requirePlace(file, wanted.force);
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  const hash = createHash('sha256');
  try {
    const response = await api.open({ method: 'GET', path }, { headers: { accept: 'application/octet-stream' } });
    const target = await open(part, 'wx', 0o600);
    let size = 0;
    try {
      for await (const chunk of counted(response.body ?? [], hash, progress(context, 'received', wanted.total))) {
        await target.writeFile(chunk);
        size += chunk.length;
      }
      if ((await target.stat()).size !== size) throw notWritten(part, 'it is shorter than what came');
    } finally {
      await target.close();
    }
    if (wanted.sha256 !== null && wanted.sha256 !== hash.digest('hex')) {
      throw new CliFailure('checksum_wrong', 'the file did not arrive as it is stored: try again', EXIT.failed);
    }
    await requirePlace(file, wanted.force);
    await rename(part, file);
    return size;
  } catch (error) {
    // There is nothing to remove where nothing could be written either.
    await rm(part, { force: true }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted(`before the image was exported: ${file} is as it was`);
    throw failureOf(error, part);
  }
}

/** Throws unless a file may be written there: none is, or it may be replaced. */
async function requirePlace(file: string, force: boolean): Promise<void> {
  const there = await stat(file).catch(() => null);
  // What came would take the place of a device for good, and no folder's place at all.
  if (there !== null && !there.isFile()) throw usage(`${file} is no file`, 'name one that is to be written');
  if (there !== null && !force) {
    throw usage(`${file} is there already`, 'name another file, or replace it with --force');
  }
}

const notWritten = (file: string, why: string) =>
  new CliFailure('file_not_written', `${file} could not be written: ${why}`, EXIT.failed);

function notRead(file: string, error: unknown): CliFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return new CliFailure('file_not_read', `${file} could not be read: ${code ?? message}`, EXIT.failed);
}

/** What broke off a transfer to a file: the system names its call, else it was the connection. */
function failureOf(error: unknown, file: string): CliFailure {
  if (error instanceof CliFailure) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return notWritten(file, String(code));
  return new CliFailure('unreachable', 'the connection broke off before the whole file was there', EXIT.unreachable);
}

/** What is sent, and how many bytes that are; null where nobody knows before. */
async function sourceOf(
  context: CliContext,
  file: string,
  signal: AbortSignal,
): Promise<{ source: AsyncIterable<Uint8Array>; total: number | null }> {
  if (file === '-') return { source: context.stdin, total: null };
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usage(`${file} cannot be read (${error.code})`, 'name a tar, a tar.gz, a squashfs or a folder');
  });
  if (found.isDirectory()) return { source: packFolder(file, signal), total: null };
  if (found.isFile()) return { source: createReadStream(file), total: found.size };
  throw usage(`${file} is neither a file nor a folder`, 'name a tar, a tar.gz, a squashfs or a folder');
}

async function* counted(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
  tell: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    hash.update(chunk);
    bytes += chunk.length;
    tell(bytes);
    yield chunk;
  }
}

/** Says now and then how far it is. */
function progress(context: CliContext, word: string, total: number | null): (bytes: number) => void {
  let last = context.now();
  return (bytes) => {
    if (context.now() - last < TELL_MS) return;
    last = context.now();
    const share = total ? ` of ${mebibytes(total)} (${Math.floor((100 * bytes) / total)} %)` : '';
    say(context, `${mebibytes(bytes)}${share} ${word}`);
  };
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
