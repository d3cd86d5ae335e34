/** Bytes of the beginning of a squashfs file that say how it is compressed. */
export const SQUASHFS_HEADER_BYTES = 96;

/** Compressions by their number in the file, as `mksquashfs -comp` calls them. */
const COMPRESSIONS: Readonly<Record<number, string>> = { 1: 'gzip', 2: 'lzma', 3: 'lzo', 4: 'xz', 5: 'lz4', 6: 'zstd' };

export interface SquashfsCompression {
  name: string;
  blockSize: number;
}

/** How a squashfs is compressed, by its superblock; null for what is none, or compressed in a way that is not known. */
export function squashfsCompression(header: Uint8Array): SquashfsCompression | null {
  if (header.length < SQUASHFS_HEADER_BYTES) return null;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (view.getUint32(0, true) !== 0x73717368) return null;
  const blockSize = view.getUint32(12, true);
  const name = COMPRESSIONS[view.getUint16(20, true)];
  // mksquashfs takes powers of two from 4 KiB to 1 MiB.
  const isSize = blockSize >= 4_096 && blockSize <= 1_048_576 && (blockSize & (blockSize - 1)) === 0;
  return name === undefined || !isSize ? null : { name, blockSize };
}
