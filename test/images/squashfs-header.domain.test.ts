import { describe, expect, test } from '@jest/globals';
import { SQUASHFS_HEADER_BYTES, squashfsCompression } from '../../domain/images/squashfs-header.ts';

function header(compression: number, blockSize: number, magic = 'hsqs'): Uint8Array {
  const bytes = Buffer.alloc(SQUASHFS_HEADER_BYTES);
  bytes.write(magic, 'latin1');
  bytes.writeUInt32LE(blockSize, 12);
  bytes.writeUInt16LE(compression, 20);
  return bytes;
}

describe('how a squashfs is compressed', () => {
  test.each([
    ['gzip', 1, 131_072],
    ['lzo', 3, 4_096],
    ['xz', 4, 1_048_576],
    ['zstd', 6, 262_144],
  ])('%s', (name, number, blockSize) => {
    expect(squashfsCompression(header(number, blockSize))).toEqual({ name, blockSize });
  });

  test('also at an odd place of a larger buffer', () => {
    const shifted = Buffer.concat([Buffer.from('x'), header(5, 65_536)]).subarray(1);
    expect(squashfsCompression(shifted)).toEqual({ name: 'lz4', blockSize: 65_536 });
  });

  test.each([
    ['another file', header(1, 131_072, 'sqsh')],
    ['a compression that is not known', header(9, 131_072)],
    ['a block size that mksquashfs does not take', header(1, 100_000)],
    ['a block size of nothing', header(1, 0)],
    ['a file that ends early', header(1, 131_072).subarray(0, 50)],
  ])('nothing is said of %s', (_, bytes) => {
    expect(squashfsCompression(bytes)).toBeNull();
  });
});
