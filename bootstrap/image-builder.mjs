import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, output, run } from './commands.mjs';
import { CACHE_DIR } from './settings.mjs';
import { SetupError } from './setup-error.mjs';

/** Folder of everything about images in the cache. */
export const IMAGES_DIR = join(CACHE_DIR, 'images');

/** Free disk that a build needs, bytes: the base, its layers, and each archive once more while it is written. */
const NEEDED_DISK = 6 * 2 ** 30;
const CERTIFICATES = '/etc/ssl/certs';

/** What is missing to build images here; empty when nothing is. */
export function missingForImages() {
  const missing = [];
  if (process.getuid?.() !== 0) missing.push('root, to build container images');
  if (!findOnPath('buildah')) missing.push('buildah to build container images (package: buildah)');
  if (!findOnPath('mmdebstrap')) missing.push('mmdebstrap for the base of container images (package: mmdebstrap)');
  return missing;
}

/** @throws {SetupError} when the disk is too full for a build */
export function checkDisk() {
  mkdirSync(IMAGES_DIR, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = statfsSync(IMAGES_DIR);
  if (bavail * bsize < NEEDED_DISK) {
    const gibibytes = (bytes) => (bytes / 2 ** 30).toFixed(1);
    throw new SetupError(
      `Building the images needs ${gibibytes(NEEDED_DISK)} GiB of free disk, ${IMAGES_DIR} has ${gibibytes(bavail * bsize)}.`,
    );
  }
}

/**
 * Makes a Debian root file system into an image, unless it is there.
 * @param {string} name
 * @param {string} suite
 * @param {string[]} packages
 * @param {(detail: string) => void} onDetail
 */
export async function makeBase(name, suite, packages, onDetail) {
  const work = mkdtempSync(join(IMAGES_DIR, 'base.tmp-'));
  const archive = join(work, 'base.tar');
  try {
    const leftOut = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*'];
    const options = leftOut.map((path) => `--dpkgopt=path-exclude=${path}`);
    options.push('--dpkgopt=path-include=/usr/share/doc/*/copyright');
    // Of this machine; each container gets its own.
    options.push('--customize-hook=rm -f "$1/etc/resolv.conf" "$1/etc/hostname"');
    await run('mmdebstrap', ['--variant=minbase', ...options, `--include=${packages.join(',')}`, suite, archive], {
      onLine: onDetail,
    });
    const container = `base-${process.pid}`;
    await buildah(['from', '--name', container, 'scratch'], onDetail);
    try {
      onDetail('unpacking');
      await buildah(['add', '--quiet', container, archive, '/'], onDetail);
      await buildah(['commit', '--quiet', container, name], onDetail);
    } finally {
      await buildah(['rm', container], onDetail);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Whether an image of that name is in the storage. */
export function hasImage(name) {
  return (
    output('buildah', [...storage(), 'inspect', '--type', 'image', '--format', '{{.FromImageID}}', name]) !== undefined
  );
}

/** Removes a name, and what only it used. */
export function removeImage(name) {
  return buildah(['rmi', name], () => {});
}

/** Names of images, the newest first. */
export function imageNames(repository) {
  const which = ['--filter', `reference=${repository}`, '--format', '{{.Name}}:{{.Tag}}'];
  const listed = output('buildah', [...storage(), 'images', ...which]) ?? '';
  return listed.split('\n').filter((line) => line.startsWith(`${repository}:`));
}

/**
 * Builds a Dockerfile; layers that did not change are taken from the storage.
 * @param {{name: string, context: string, dockerfile: string, args: Record<string, string>, contexts: Record<string, string>}} image
 * @param {(detail: string) => void} onDetail
 */
export async function buildImage({ name, context, dockerfile, args, contexts }, onDetail) {
  const work = mkdtempSync(join(IMAGES_DIR, 'settings.tmp-'));
  try {
    const command = ['bud', '--layers', '--isolation=chroot', '--network=host', '--pull-never', `--tag=${name}`];
    command.push(`--file=${join(context, dockerfile)}`);
    // How packages are reached from this machine; mounted while a command runs, so none of it stays in a layer.
    for (const [id, text] of Object.entries(packageSettings())) {
      writeFileSync(join(work, id), text, { mode: 0o600 });
      command.push(`--secret=id=${id},src=${join(work, id)}`);
    }
    if (existsSync(CERTIFICATES)) command.push(`--volume=${CERTIFICATES}:${CERTIFICATES}:ro`);
    for (const [key, value] of Object.entries(args)) command.push(`--build-arg=${key}=${value}`);
    for (const [key, folder] of Object.entries(contexts)) command.push(`--build-context=${key}=${folder}`);
    await buildah([...command, context], onDetail);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Writes an image as an archive with layers as they are: read on this machine alone, it is not worth compressing (20 s). */
export function writeArchive(name, file, onDetail) {
  return buildah(['push', '--quiet', name, `docker-archive:${file}:${name}`], onDetail);
}

/** Settings of pip and npm for the commands of a build: the user's own files, else what the environment says. */
function packageSettings() {
  const { env } = process;
  const fromEnvironment = ['INDEX_URL', 'EXTRA_INDEX_URL', 'TRUSTED_HOST', 'DEFAULT_TIMEOUT', 'RETRIES']
    .filter((name) => env[`PIP_${name}`])
    .map((name) => `${name.toLowerCase().replaceAll('_', '-')} = ${env[`PIP_${name}`]}`);
  const pip =
    fromEnvironment.length > 0
      ? `[global]\n${fromEnvironment.join('\n')}\n`
      : firstText([env.PIP_CONFIG_FILE, join(homedir(), '.config', 'pip', 'pip.conf'), '/etc/pip.conf']);
  const registry = env.npm_config_registry ? `registry=${env.npm_config_registry}\n` : '';
  return { pip, npm: `${firstText([env.npm_config_userconfig, join(homedir(), '.npmrc')])}\n${registry}` };
}

function firstText(files) {
  const file = files.find((path) => path && existsSync(path));
  return file === undefined ? '' : readFileSync(file, 'utf8');
}

let driver;

/** Where buildah keeps images. Overlay takes a layer's difference, vfs, for where that cannot be mounted, a copy of all below. */
function storage() {
  const folders = ['--root', join(IMAGES_DIR, 'storage'), '--runroot', join(IMAGES_DIR, 'run')];
  driver ??= ['overlay', 'vfs'].find(
    (name) => output('buildah', [...folders, '--storage-driver', name, 'info']) !== undefined,
  );
  if (driver === undefined) throw new SetupError('buildah can keep no images here: see "buildah info".');
  return [...folders, '--storage-driver', driver];
}

function buildah(args, onDetail) {
  return run('buildah', [...storage(), ...args], { onLine: onDetail });
}
