/** Manifests in a folder of this machine, as one text. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { usage } from '../../failure.ts';
import { fileTrouble } from '../../input/file-trouble.ts';

const MANIFEST = /\.ya?ml$/i;
/** Most bytes of an app's manifests. */
const LARGEST = 16 * 2 ** 20;

/**
 * Reads `FOLDER` or `APP=FOLDER`: all files `*.yaml` and `*.yml` at any depth, by path. Links are not followed.
 * Throws a `CliFailure`.
 */
export async function readManifestFolder(given: string): Promise<{ app: string; manifests: string }> {
  const at = given.indexOf('=');
  const folder = resolve(given.slice(at + 1));
  const app = at === -1 ? basename(folder) : given.slice(0, at);
  const files = await manifestFiles(folder, given);
  if (files.length === 0) throw usage(`--manifests ${given}: the folder has no file *.yaml or *.yml`);
  // The API would see one text, and no chart.
  if (files.some((file) => isChart(file, files)))
    throw usage(
      `--manifests ${given}: it has a Helm chart, and charts are not rendered`,
      "pack the output of 'helm template'",
    );
  const texts: string[] = [];
  for (const file of files) texts.push(`# ${relative(folder, file)}\n${await reading(given, readFile(file, 'utf8'))}`);
  const manifests = texts.map((text) => text.trimEnd()).join('\n---\n');
  if (Buffer.byteLength(manifests) > LARGEST)
    throw usage(`--manifests ${given}: the files have more than ${LARGEST} bytes`);
  return { app, manifests: `${manifests}\n` };
}

/** Whether a file describes a Helm chart whose templates are among the files. */
function isChart(file: string, files: readonly string[]): boolean {
  if (basename(file) !== 'Chart.yaml') return false;
  const templates = join(dirname(file), 'templates') + sep;
  return files.some((other) => other.startsWith(templates));
}

async function manifestFiles(folder: string, given: string): Promise<string[]> {
  const entries = await reading(given, readdir(folder, { withFileTypes: true, recursive: true }));
  return entries
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

async function reading<T>(given: string, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw usage(`--manifests ${given} cannot be read: ${fileTrouble(error)}`);
  });
}
