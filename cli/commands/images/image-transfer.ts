import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { StoredImageView } from '../../../domain/images/schema.ts';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';

/** Between two words about the progress, ms. */
const TELL_MS = 2_000;

/** Sends a file (`-`: stdin) as a new image; what arrives is compared with what was sent. */
export async function sendFile(
  context: CliContext,
  api: ApiClient,
  path: string,
  file: string,
  { name, ...query }: Query,
): Promise<StoredImageView> {
  const isStdin = file === '-';
  if (isStdin && name === undefined) throw usage('stdin has no name', 'give one with --name');
  const total = isStdin ? null : await sizeOf(file);
  const hash = createHash('sha256');
  const source = counted(isStdin ? context.stdin : createReadStream(file), hash, progress(context, 'sent', total));
  const response = await api.open(
    { method: 'POST', path, query: { ...query, name: name ?? basename(file) } },
    {
      headers: { 'content-type': 'application/octet-stream' },
      stream: Readable.toWeb(Readable.from(source)) as ReadableStream,
    },
  );
  const image = (await response.json()) as StoredImageView;
  if (image.sha256 === hash.digest('hex')) return image;
  await api.json({ method: 'DELETE', path: `${path}/${image.id}` });
  throw new CliFailure('checksum_wrong', `${file} did not arrive as it was sent; the image was removed`, EXIT.failed);
}

/** Writes what is answered to a file, which appears when it is whole and its checksum is right. Answers its size. */
export async function receiveFile(
  context: CliContext,
  api: ApiClient,
  path: string,
  file: string,
  wanted: { force: boolean; sha256: string | null; total: number | null },
): Promise<number> {
  if (!wanted.force && (await stat(file).catch(() => null)) !== null) {
    throw usage(`${file} is there already`, 'name another file, or replace it with --force');
  }
  const response = await api.open({ method: 'GET', path }, { headers: { accept: 'application/octet-stream' } });
  const part = `${file}.part`;
  const hash = createHash('sha256');
  try {
    const target = await open(part, 'w', 0o600);
    let size = 0;
    try {
      for await (const chunk of counted(response.body ?? [], hash, progress(context, 'received', wanted.total))) {
        await target.write(chunk);
        size += chunk.length;
      }
    } finally {
      await target.close();
    }
    if (wanted.sha256 !== null && wanted.sha256 !== hash.digest('hex')) {
      throw new CliFailure('checksum_wrong', 'the file did not arrive as it is stored: try again', EXIT.failed);
    }
    await rename(part, file);
    return size;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usage(`${file} cannot be read (${error.code})`, 'name a tar, a tar.gz or a squashfs');
  });
  if (found.isFile()) return found.size;
  throw usage(
    `${file} is no file`,
    `pack a folder first: tar --xattrs --acls --numeric-owner -C ${file} -cf root.tar .`,
  );
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
