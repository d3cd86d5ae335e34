import type { ImageFiles } from '../../domain/images/image-files.ts';
import { readHostId } from '../local-runner/host-id.ts';
import { openImageDirectory } from './image-directory.ts';

/** The directory of images, made if it is not there, with its own id in it; null, and a word why, where that cannot be done. */
export async function openImages(dir: string, warn: (message: string) => void): Promise<ImageFiles | null> {
  try {
    return await openImageDirectory(dir, await readHostId(dir));
  } catch (error) {
    warn(`there are no images here: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
