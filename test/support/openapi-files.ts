import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DOCUMENT_PATHS, DOCUMENTS, type DocumentName } from '../../api/openapi/surfaces.ts';
import { routeLines } from './route-lines.ts';
import { createTestApi, type TestApi } from './stack/test-api.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'openapi');

export interface ApiDocument {
  openapi: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  paths: Record<string, Record<string, any>>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  components: { schemas: Record<string, any> };
}

/** Version of Muster, which the documents carry. */
async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** A document as an API answers it. */
export async function servedDocument(api: TestApi, name: DocumentName): Promise<ApiDocument> {
  const { status, body } = await api.call('GET', DOCUMENT_PATHS[name]);
  if (status !== 200) throw new Error(`${DOCUMENT_PATHS[name]} answers ${status}`);
  return body as ApiDocument;
}

/** Texts of the committed files, by name: the documents of the surfaces as a fresh API answers them, and the list of its routes. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const api = await createTestApi({ version: await packageVersion() });
  try {
    const files: Record<string, string> = {};
    for (const name of DOCUMENTS.filter((one) => one !== 'all')) {
      files[`${name}.json`] = `${JSON.stringify(await servedDocument(api, name), null, 1)}\n`;
    }
    files['roles.txt'] = routeLines(api.app);
    return files;
  } finally {
    await api.close();
  }
}

/** A committed file; empty when there is none. */
export async function committedFile(name: string): Promise<string> {
  return readFile(join(FOLDER, name), 'utf8').catch(() => '');
}

/** Writes the files that are committed. */
export async function writeFiles(files: Record<string, string>): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(FOLDER, name), text);
}
