import { createHash } from 'node:crypto';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { FileFacts } from '../../domain/images/image-files.ts';
import { FORMAT_BYTES, formatOf, isCutOff } from '../../domain/images/image-format.ts';
import { diskFull } from './disk-full.ts';

/** Bytes between two looks at the disk. */
const LOOK_BYTES = 64 * 2 ** 20;

export interface ReceiveLimits {
  maxBytes: number;
  keepFree: number;
}

/**
 * Writes what comes to a new file and answers what it is. The first bytes decide the format, before the rest is waited for.
 * @throws `image_format_unknown`, `image_archive_invalid` for one that is cut off, `image_too_large`, `image_disk_full`
 */
export async function receiveFile(
  source: AsyncIterable<Uint8Array>,
  path: string,
  limits: ReceiveLimits,
): Promise<FileFacts> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  const file = await open(path, 'wx', 0o600);
  let start = Buffer.of();
  let end = Buffer.of();
  let size = 0;
  let looked = Number.NEGATIVE_INFINITY;
  try {
    for await (const chunk of source) {
      if (size + chunk.length > limits.maxBytes) {
        throw musterError('image_too_large', `The file is larger than the limit of ${limits.maxBytes} bytes`);
      }
      if (start.length < FORMAT_BYTES) {
        start = Buffer.concat([start, chunk.subarray(0, FORMAT_BYTES)]);
        if (start.length >= FORMAT_BYTES) knownFormat(start);
      }
      if (size - looked >= LOOK_BYTES) {
        await checkDisk(path, limits.keepFree + chunk.length);
        looked = size;
      }
      end = Buffer.concat([end, chunk.subarray(-FORMAT_BYTES)]).subarray(-FORMAT_BYTES);
      md5.update(chunk);
      sha256.update(chunk);
      // Until all of it is written: on a disk that fills a single write takes what has room and says nothing.
      await file.writeFile(chunk);
      size += chunk.length;
    }
    const format = knownFormat(start);
    if (isCutOff(format, { start, end, size })) {
      throw musterError('image_archive_invalid', `The ${format} ends too early: a part of the file is missing`);
    }
    await file.sync();
    if ((await file.stat()).size !== size) throw diskFull();
    return { format, size, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
  } finally {
    await file.close();
  }
}

function knownFormat(start: Buffer) {
  const format = formatOf(start);
  if (format !== null) return format;
  const detail = 'The file is neither a tar, nor a tar that gzip has packed, nor a squashfs: its first bytes say so';
  throw musterError('image_format_unknown', detail);
}

async function checkDisk(path: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize < needed) throw diskFull();
}
