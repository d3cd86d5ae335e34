import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { BuildProgress, PackedImage, PackRequest } from '../../domain/images/image-builder.ts';
import {
  SQUASHFS_HEADER_BYTES,
  type SquashfsCompression,
  squashfsCompression,
} from '../../domain/images/squashfs-header.ts';
import { diskUsage } from './disk-usage.ts';
import { flush } from './flush.ts';
import { type JobFolder, makeJobFolder } from './job-folder.ts';
import { endRoom } from './room.ts';
import { requireOwnRoot, resolveInRoot } from './root-paths.ts';
import { runStep, tooLarge } from './run-step.ts';
import { TAR_ATTRIBUTES } from './unpack-image.ts';

const DEFAULT_COMPRESSION: SquashfsCompression = { name: 'gzip', blockSize: 131_072 };
/** Name of the new file while it is made. */
const NEW = 'new';

/**
 * Packs a root file system. The same root gives the same bytes: entries in order, no times of reading. The target is there whole or not at
 * all, and on the disk when this resolves.
 */
export async function packImage(
  folder: JobFolder,
  request: PackRequest,
  signal: AbortSignal,
  progress: BuildProgress,
): Promise<PackedImage> {
  const { limits, target, format } = request;
  await endRoom(folder);
  const root = await rootToPack(folder, request.folder);
  for (const needed of request.needed ?? []) {
    const found = await resolveInRoot(root, needed);
    if (found === null || !(await stat(found)).isFile()) {
      throw musterError('image_boot_file_missing', `the image has no file ${needed}`);
    }
  }
  const bytes = await diskUsage(root, signal);
  if (bytes > limits.maxBytes) throw musterError('image_too_large', tooLarge(bytes, limits.maxBytes));

  await rm(folder.output, { recursive: true, force: true });
  await makeJobFolder(folder);
  const made = join(folder.output, NEW);
  const argv = format === 'squashfs' ? squash(await compressionOf(request.like)) : tar(format === 'tar.gz');
  const plan = { kind: 'tool' as const, hostname: 'pack', source: root, target: folder.output, argv };
  const measure = async () => (await stat(made).catch(() => null))?.size ?? 0;
  const step = { plan, limits, failure: 'image_pack_failed' as const, measure, maxBytes: Number.POSITIVE_INFINITY };
  try {
    await runStep(folder, step, signal, progress);
    const packed = await checksums(made, signal);
    await putInPlace(made, target, folder.jobId);
    return packed;
  } finally {
    await rm(made, { force: true });
  }
}

async function rootToPack(folder: JobFolder, other: string | undefined): Promise<string> {
  const root = other ?? folder.root;
  const entry = await (other === undefined ? lstat(root) : stat(root)).catch(() => null);
  if (entry === null || (other !== undefined && !entry.isDirectory())) {
    throw musterError('image_pack_failed', `there is no folder ${root}`);
  }
  if (other === undefined) await requireOwnRoot(folder);
  return root;
}

function tar(compressed: boolean): string[] {
  return [
    ...['tar', '--create', '--format=pax', '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime'],
    ...['--sort=name', '--numeric-owner', '--sparse', ...TAR_ATTRIBUTES],
    // Without name and time in its header.
    ...(compressed ? ['--use-compress-program=gzip --no-name'] : []),
    ...['--directory', '/source', '--file', `/output/${NEW}`, '.'],
  ];
}

function squash({ name, blockSize }: SquashfsCompression): string[] {
  return [
    ...['mksquashfs', '/source', `/output/${NEW}`, '-noappend', '-no-progress', '-quiet', '-no-recovery'],
    // A quarter of the machine's memory where nobody says otherwise.
    ...['-comp', name, '-b', String(blockSize), '-mem', '256M', '-mkfs-time', '0'],
  ];
}

async function compressionOf(like: string | undefined): Promise<SquashfsCompression> {
  if (like === undefined) return DEFAULT_COMPRESSION;
  const file = await open(like, 'r');
  try {
    const header = Buffer.alloc(SQUASHFS_HEADER_BYTES);
    await file.read(header, 0, header.length, 0);
    return squashfsCompression(header) ?? DEFAULT_COMPRESSION;
  } finally {
    await file.close();
  }
}

async function checksums(path: string, signal: AbortSignal): Promise<PackedImage> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576, signal })) {
    md5.update(chunk);
    sha256.update(chunk);
    size += chunk.length;
  }
  return { size, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

async function putInPlace(made: string, target: string, jobId: string): Promise<void> {
  await flush(made);
  try {
    await rename(made, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const beside = `${target}.${jobId}.new`;
    try {
      await copyFile(made, beside);
      await flush(beside);
      await rename(beside, target);
    } catch (failure) {
      await rm(beside, { force: true });
      if ((failure as NodeJS.ErrnoException).code !== 'ENOSPC') throw failure;
      throw musterError('image_disk_full', `no space is left for ${target}`);
    }
  }
}
