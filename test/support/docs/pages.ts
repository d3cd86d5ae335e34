import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../source-tree.ts';
import { cliPage } from './cli-page.ts';
import { configurationPage } from './configuration-page.ts';
import { errorsPage } from './errors-page.ts';

const FOLDER = join(ROOT, 'docs');

/** Documents that are generated from the code, by the names of their files in `docs/`. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'cli.md': cliPage,
  'configuration.md': configurationPage,
  'errors.md': errorsPage,
};

/** Returns a committed page; empty when there is none. */
export async function committedPage(name: string): Promise<string> {
  return readFile(join(FOLDER, name), 'utf8').catch(() => '');
}

/** Writes all generated pages. Returns their names. */
export async function writePages(): Promise<string[]> {
  for (const [name, page] of Object.entries(PAGES)) await writeFile(join(FOLDER, name), page());
  return Object.keys(PAGES);
}
