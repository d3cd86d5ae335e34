import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { readHostId } from '../machine/machine-id.ts';
import { type FileOwner, openImageDirectory } from './image-directory.ts';

/**
 * The directory of images, made if it is not there, with its own id in it; null, and a word why, where that cannot be done. With `owner`,
 * for who is root, everything in it belongs to that user.
 */
export async function openImages(
  dir: string,
  warn: (message: string) => void,
  owner?: FileOwner,
): Promise<ImageFiles | null> {
  try {
    const storeId = await readHostId(dir);
    const given = process.getuid?.() === 0 ? owner : undefined;
    // The server that serves the images reads it too, as that user.
    if (given !== undefined) await chown(join(dir, 'host-id'), given.uid, given.gid);
    return await openImageDirectory(dir, storeId, given);
  } catch (error) {
    warn(`there are no images here: ${messageOf(error)}`);
    return null;
  }
}

/** How often a directory that could not be used is tried again, ms. */
const AGAIN_MS = 5_000;

/** The directory of images as soon as it can be used: on a cluster another pod prepares it. */
export async function keepOpeningImages(
  dir: string,
  warn: (message: string) => void,
): Promise<{ current(): ImageFiles | null; stop(): void }> {
  let files = await openImages(dir, warn);
  const timer = setInterval(async () => {
    if (files === null) files = await openImages(dir, () => undefined);
    if (files !== null) clearInterval(timer);
  }, AGAIN_MS).unref();
  return { current: () => files, stop: () => clearInterval(timer) };
}
