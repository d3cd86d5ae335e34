import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const PREFIX = 'workflows-';

/**
 * File with the workflow code as Temporal runs it. It is built when the sources or the SDK have changed since, by a
 * process of its own, and kept in `dir`; older ones are removed. `interceptors` is a module that is bundled with it.
 */
export async function workflowBundle(dir: string, interceptors: string | undefined): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const name = `${PREFIX}${await fingerprint()}${interceptors === undefined ? '' : '-traced'}.js`;
  const path = join(dir, name);
  const there = await access(path).then(
    () => true,
    () => false,
  );
  if (!there)
    await run(process.execPath, [
      join(import.meta.dirname, 'build-bundle.ts'),
      path,
      ...(interceptors === undefined ? [] : [interceptors]),
    ]);
  for (const other of await readdir(dir)) {
    if (other.startsWith(PREFIX) && other !== name) await rm(join(dir, other), { force: true });
  }
  return path;
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
  hash.update(await readFile(join(ROOT, 'node_modules', '@temporalio', 'workflow', 'package.json')));
  return hash.digest('hex').slice(0, 16);
}
