import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const PREFIX = 'workflows-';

/** Where a container image has the bundle of its own sources; elsewhere there is no such folder. */
export const SHIPPED_BUNDLES = join(import.meta.dirname, 'bundles');

/**
 * File with the workflow code as Temporal runs it. Unless it came with the sources, it is built when they or the SDK have
 * changed since, by a process of its own, and kept in `dir`; those of older sources are removed. `interceptors` is a module
 * that is bundled with it.
 */
export async function workflowBundle(dir: string, interceptors: string | undefined): Promise<string> {
  const ofTheseSources = `${PREFIX}${await fingerprint()}`;
  const name = `${ofTheseSources}${interceptors === undefined ? '' : '-traced'}.js`;
  const shipped = join(SHIPPED_BUNDLES, name);
  if (await isThere(shipped)) return shipped;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, name);
  if (!(await isThere(path)))
    await run(process.execPath, [
      join(import.meta.dirname, 'build-bundle.ts'),
      path,
      ...(interceptors === undefined ? [] : [interceptors]),
    ]);
  for (const other of await readdir(dir)) {
    if (other.startsWith(PREFIX) && !other.startsWith(ofTheseSources)) await rm(join(dir, other), { force: true });
  }
  return path;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Hash of everything that the bundle is made of. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['workflows', 'domain']) {
    const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.sort())
      hash
        .update(relative(ROOT, file))
        .update('\0')
        .update(await readFile(file));
  }
  hash.update(await readFile(join(import.meta.dirname, 'workflow-sources.ts')));
  hash.update(await readFile(join(ROOT, 'node_modules', '@temporalio', 'workflow', 'package.json')));
  return hash.digest('hex').slice(0, 16);
}
