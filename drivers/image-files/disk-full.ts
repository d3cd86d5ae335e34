import { musterError } from '../../domain/errors.ts';

/** Error of a disk that takes nothing more. */
export function diskFull() {
  return musterError(
    'image_disk_full',
    'There is no room for the file on the disk of the images: make some, or set MUSTER_MIN_FREE',
  );
}

/** What the work answers; where the disk, or what its owner may have of it, is full, `image_disk_full`. */
export async function orDiskFull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? diskFull() : error;
  }
}
