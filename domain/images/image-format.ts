import type { ImageFormat } from './image-words.ts';

/** Bytes of the beginning of a file that are enough to know its format. */
export const FORMAT_BYTES = 512;

/** Name of the file of an image. */
export const FILE_NAMES: Readonly<Record<ImageFormat, string>> = {
  tar: 'rootfs.tar',
  'tar.gz': 'rootfs.tar.gz',
  squashfs: 'rootfs.squashfs',
};

/** Type of the root file system in a manifest (cfs-flows 7). */
export const ARTIFACT_TYPES: Readonly<Record<ImageFormat, string>> = {
  tar: 'application/vnd.cray.image.rootfs.tar',
  'tar.gz': 'application/vnd.cray.image.rootfs.tar+gzip',
  squashfs: 'application/vnd.cray.image.rootfs.squashfs',
};

/** The format of a file by its first bytes, whatever it is called; null for another one. */
export function formatOf(start: Uint8Array): ImageFormat | null {
  if (ascii(start, 0, 4) === 'hsqs') return 'squashfs';
  if (start[0] === 0x1f && start[1] === 0x8b && start[2] === 0x08) return 'tar.gz';
  // POSIX says `ustar` and NUL, GNU `ustar` and a blank.
  if (/^ustar[\0 ]/.test(ascii(start, 257, 263)) && headerSumFits(start)) return 'tar';
  return null;
}

/** Where a squashfs says how long it is. */
const SQUASHFS_LENGTH = 40;

/** Whether a file ends before its format says: its first and last `FORMAT_BYTES`, or all of a shorter one, and its size tell. */
export function isCutOff(
  format: ImageFormat,
  { start, end, size }: { start: Uint8Array; end: Uint8Array; size: number },
) {
  // A tar ends with blocks of zeros; where a gzip ends is only known to who unpacks it.
  if (format === 'tar') return size % FORMAT_BYTES !== 0 || end.some((byte) => byte !== 0);
  if (format === 'tar.gz') return false;
  if (start.length < SQUASHFS_LENGTH + 8) return true;
  return new DataView(start.buffer, start.byteOffset).getBigUint64(SQUASHFS_LENGTH, true) > BigInt(size);
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Whether a tar header's checksum is right: the sum of its bytes, those of the checksum itself taken as blanks. */
function headerSumFits(start: Uint8Array): boolean {
  if (start.length < FORMAT_BYTES) return false;
  const said = Number.parseInt(ascii(start, 148, 156).replace(/[\0 ]+/g, ''), 8);
  let sum = 0;
  for (let place = 0; place < FORMAT_BYTES; place++) sum += place >= 148 && place < 156 ? 0x20 : (start[place] ?? 0);
  return sum === said;
}
