const [MIB, GIB] = [1024 ** 2, 1024 ** 3];

/** Returns a number of bytes in words. */
export function bytesText(bytes: number): string {
  return bytes < GIB ? `${Math.round(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
}
