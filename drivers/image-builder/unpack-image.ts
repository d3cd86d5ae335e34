import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { musterError } from '../../domain/errors.ts';
import type { BuildProgress, UnpackRequest } from '../../domain/images/image-builder.ts';
import type { ImageFormat } from '../../domain/images/image-words.ts';
import { diskUsage } from './disk-usage.ts';
import { flush } from './flush.ts';
import { type JobFolder, makeJobFolder } from './job-folder.ts';
import { removeTree } from './remove-tree.ts';
import { endRoom } from './room.ts';
import { requireOwnRoot } from './root-paths.ts';
import { runStep, tooLarge } from './run-step.ts';

/** Where the root is for what works in a room. */
const ROOT = '/mnt/image/image-root';
/** Everything that a file system keeps of a file; trusted attributes belong to overlays of this machine. */
export const TAR_ATTRIBUTES = [
  '--xattrs',
  '--xattrs-include=user.*',
  '--xattrs-include=security.*',
  '--acls',
  '--selinux',
];

/**
 * Unpacks an image to the root of its job, which is made anew. The program sees the file, the root and the machine's
 * programs and nothing else, so what an archive says about other places leads nowhere.
 */
export async function unpackImage(
  folder: JobFolder,
  { source, format, limits }: UnpackRequest,
  signal: AbortSignal,
  progress: BuildProgress,
): Promise<number> {
  const file = await stat(source).catch(() => null);
  if (!file?.isFile()) throw musterError('image_archive_invalid', `there is no file ${source}`);
  await endRoom(folder);
  for (const note of [folder.unpacked, folder.opened]) await rm(note, { force: true });
  await removeTree(folder.root);
  await makeJobFolder(folder);
  await mkdir(folder.root);
  // Whatever the umask: it stays so in the new image where the archive says nothing of it.
  await chmod(folder.root, 0o755);
  const plan = { kind: 'tool' as const, hostname: 'unpack', source, argv: unpacker(format) };
  const measure = (until?: AbortSignal) => diskUsage(folder.root, until);
  const step = { plan, limits, failure: 'image_archive_invalid' as const, measure, maxBytes: limits.maxBytes };
  await runStep(folder, step, signal, progress);
  await requireOwnRoot(folder);
  const bytes = await measure(signal);
  if (bytes > limits.maxBytes) throw musterError('image_too_large', tooLarge(bytes, limits.maxBytes));
  // Last of all: a root without it is never opened.
  await writeFile(folder.unpacked, '', { mode: 0o600, flush: true });
  await flush(folder.path);
  return bytes;
}

function unpacker(format: ImageFormat): string[] {
  if (format === 'squashfs') {
    // Its queues take half a gigabyte where nobody says otherwise.
    return ['unsquashfs', '-force', '-no-progress', '-da', '64', '-fr', '64', '-dest', ROOT, '/source'];
  }
  const compressed = format === 'tar.gz' ? ['--gzip'] : [];
  const owners = ['--numeric-owner', '--same-owner', '--same-permissions'];
  return ['tar', '--extract', ...compressed, ...TAR_ATTRIBUTES, ...owners, '--directory', ROOT, '--file', '/source'];
}
