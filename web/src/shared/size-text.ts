const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Returns a count of bytes in words, in the largest unit of which it has at least one; '' where it is not known. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return '';
  let [size, unit] = [bytes / 1024, 0];
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit === 0 ? Math.ceil(size) : size.toFixed(1)} ${UNITS[unit]}`;
}
