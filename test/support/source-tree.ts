import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type ScannedFile, scanFile } from './import-scanner.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface SourceFile extends ScannedFile {
  /** Relative to the checkout. */
  path: string;
  lines: number;
}

/** Not ours, or made. */
const SKIPPED = new Set(['node_modules', 'dist', 'generated']);

/** All TypeScript and JavaScript files of the checkout, read. */
export function readSourceTree(): SourceFile[] {
  const paths = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name))
    .flatMap((entry) => sourcesIn(entry.name));
  return paths.sort().map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, lines: text.trimEnd().split('\n').length, ...scanFile(text, path.endsWith('.tsx')) };
  });
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') || SKIPPED.has(entry.name) ? [] : sourcesIn(path);
    return /\.(ts|tsx|mts|js|mjs)$/.test(entry.name) ? [path] : [];
  });
}

/** The file that an import means, relative to the checkout; null for a package or a module of Node's. */
export function importedPath(importer: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  // Vite is told after a question mark how to bundle a file.
  return posix.normalize(posix.join(posix.dirname(importer), specifier.replace(/\?.*$/, '')));
}

/** Name of the package that is imported (`@a/b/lib/c.js` -> `@a/b`). */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
