import { musterError } from '../errors.ts';

/** A limit longer than this goes to ansible-playbook by file: Linux refuses one argument of 128 KiB. */
const LIMIT_ARGUMENT_MAX = 64 * 1024;

/**
 * Checks what the shape of a limit does not say. An item that begins with `@` would make Ansible read a file of the
 * controller, whatever separates the items, so an `@` is allowed only after an ordinary character of a name. Control
 * characters are white space to Ansible. Throws `bad_request`.
 */
export function checkAnsibleLimit(limit: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(limit)) {
    throw musterError('bad_request', 'ansible_limit must not contain control characters', 'ansible_limit');
  }
  if (/(^|[^A-Za-z0-9_.-])@/.test(limit)) {
    throw musterError(
      'bad_request',
      `ansible_limit must not name a file: ${limit.slice(0, 100)} has an item that begins with @`,
      'ansible_limit',
    );
  }
}

/** Whether the limit has to go by file. */
export function limitNeedsFile(limit: string): boolean {
  return limit.length * 3 > LIMIT_ARGUMENT_MAX && new TextEncoder().encode(limit).length > LIMIT_ARGUMENT_MAX;
}

/** Text of the file for a long limit: one item a line, as Ansible reads it. */
export function limitFileText(limit: string): string {
  const items = limit.split(',').filter((item) => item !== '');
  return `${items.join('\n')}\n`;
}

/** The plain host names that make up a limit, each once, or null when it holds anything else (a pattern, a range, a group of groups). */
export function plainLimitHosts(limit: string): string[] | null {
  const items = limit.split(',').filter((item) => item !== '');
  if (items.length === 0) return null;
  const plain = items.every((item) => /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(item));
  return plain ? [...new Set(items)] : null;
}
