/** Components as lines of CSV. */
import type { ComponentItem } from './list-schema.ts';

const COLUMNS = [
  'id',
  'status',
  'why',
  'enabled',
  'desired_config',
  'error_count',
  'session',
  'updated_at',
  'tags',
] as const;

/** The first line. */
export const CSV_HEAD = `${COLUMNS.join(',')}\r\n`;

/** Returns a component as a line. */
export function csvLine(item: ComponentItem): string {
  const tags = Object.entries(item.tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
  const cells = { ...item, session: item.session?.name ?? '', tags };
  return `${COLUMNS.map((column) => csvCell(String(cells[column]))).join(',')}\r\n`;
}

/** Returns a text as a cell. A program that shows tables must not take it for a formula. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
