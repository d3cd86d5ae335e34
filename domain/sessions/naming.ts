import { SESSION_NAME, SESSION_NAME_MAX } from './schema.ts';

/** Whether `name` can be a session's at all; one that cannot is not looked up. */
export function isSessionName(name: string): boolean {
  return name.length <= SESSION_NAME_MAX && SESSION_NAME.test(name);
}

/**
 * Name of a retry: `retry-<8 hex>-<start of the root's name>`, at most 45 characters. `batcher-` is removed from the
 * root's name first, and a `-` or `.` where it is cut, so that the result is a valid name.
 */
export function retryName(root: string, hex8: string): string {
  const start = `retry-${hex8}-`;
  const rest = root.replace(/^batcher-/, '').slice(0, SESSION_NAME_MAX - start.length);
  return `${start}${rest}`.replace(/[-.]+$/, '');
}
