/** The built files of the web UI: where they are, and how they are made. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { dataPaths } from '../../config/data-paths.ts';
import { overSize, webSizes } from './web-size.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const SOURCES = join(ROOT, 'web');
/** Where an image has them. */
const SHIPPED = join(SOURCES, 'dist');
const MADE = new Set(['dist', 'node_modules']);
/** Kinds of files that are sent compressed. */
const COMPRESSED = /\.(js|css|svg|html)$/;

/** Returns the folder of the built files of these sources: that of an image, or the one below the data directory. */
export function webFolder(dataDir: string): string {
  return existsSync(join(SHIPPED, 'index.html'))
    ? SHIPPED
    : join(dataPaths(dataDir).bundles, `web-${sourcesHash().slice(0, 16)}`);
}

/** Whether the folder has a whole build: it gets its name when all is in it. */
export function isBuilt(folder: string): boolean {
  return existsSync(join(folder, 'index.html'));
}

/** SHA-256 of all that decides what is built. */
function sourcesHash(): string {
  const hash = createHash('sha256');
  const add = (path: string) =>
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  add('package.json');
  add('package-lock.json');
  const entries = existsSync(SOURCES)
    ? readdirSync(SOURCES, { recursive: true, encoding: 'utf8', withFileTypes: true })
    : [];
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = files
    .map((path) => path.slice(ROOT.length + 1))
    .filter((path) => !path.split('/').some((part) => MADE.has(part)));
  for (const path of own.sort()) add(path);
  return hash.digest('hex');
}

/**
 * Builds the files into `folder` unless they are there, in a process of its own. Older builds beside it go.
 * @param signal ends the build
 * @throws {Error} with the last words of the build, or with what has become too large
 */
export async function buildWeb(folder: string, signal?: AbortSignal): Promise<void> {
  if (existsSync(folder)) return;
  const beside = dirname(folder);
  await mkdir(beside, { recursive: true, mode: 0o700 });
  const unfinished = `${folder}.${process.pid}.part`;
  try {
    await runVite(unfinished, signal);
    await refuseLarge(unfinished, await compressAll(unfinished));
    await rename(unfinished, folder);
  } catch (error) {
    // Another start has built the same meanwhile.
    if (!isBuilt(folder)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  const others = (await readdir(beside)).filter(
    (name) => /^web-[0-9a-f]{16}$/.test(name) && join(beside, name) !== folder,
  );
  for (const name of others) await rm(join(beside, name), { recursive: true, force: true });
}

function runVite(outDir: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  if (!existsSync(vite)) throw new Error('vite is not installed: run "npm ci"');
  const args = [vite, 'build', SOURCES, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-2_000);
      });
    }
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0 ? resolve() : reject(new Error(`the build of the web UI failed: ${said.trim() || status}`)),
    );
  });
}

/** Beside each text a copy of each encoding, so that serving compresses nothing. Returns the bytes (gzip) of each script. */
async function compressAll(folder: string): Promise<Map<string, number>> {
  const [asGzip, asBrotli] = [promisify(gzip), promisify(brotliCompress)];
  const scripts = new Map<string, number>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !COMPRESSED.test(entry.name) || entry.name === 'index.html') continue;
    const bytes = await readFile(path);
    const zipped = await asGzip(bytes, { level: 9 });
    await writeFile(`${path}.gz`, zipped);
    await writeFile(`${path}.br`, await asBrotli(bytes));
    if (entry.name.endsWith('.js')) scripts.set(path.slice(folder.length + 1), zipped.length);
  }
  return scripts;
}

/** A page that has become slow to load is no build. What the sizes are read from goes: no browser asks for it. */
async function refuseLarge(folder: string, scripts: ReadonlyMap<string, number>): Promise<void> {
  const manifest = join(folder, '.vite');
  const sizes = webSizes(JSON.parse(await readFile(join(manifest, 'manifest.json'), 'utf8')), scripts);
  await rm(manifest, { recursive: true });
  const tooLarge = overSize(sizes);
  if (tooLarge.length > 0) throw new Error(`the web UI is larger than its bar: ${tooLarge.join('; ')}`);
}
