/** Bytes after which a page of a list ends, whatever its limit; it has one record at least, and `next`. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;
