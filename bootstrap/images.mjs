import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { findOnPath, run } from './commands.mjs';
import { goEnvironment } from './go-build.mjs';
import {
  buildImage,
  checkDisk,
  hasImage,
  IMAGES_DIR,
  imageNames,
  makeBase,
  removeImage,
  writeArchive,
} from './image-builder.mjs';
import { inputsHash } from './image-inputs.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, ROOT, SOPS_VERSION } from './settings.mjs';

/** The bases of the images: a Debian with the packages that the Dockerfiles ask for, so that they find them there. */
const SUITE = 'bookworm';
const PACKAGES = ['ca-certificates', 'git', 'git-lfs', 'openssh-client', 'python3', 'python3-venv'];
const BASE = { name: `localhost/muster/base:${SUITE}-3`, packages: PACKAGES };
/** Muster's own works on root file systems besides. */
const IMAGE_WORK = ['mount', 'openssh-server', 'squashfs-tools', 'tini'];
const WIDE_BASE = { name: `localhost/muster/wide-base:${SUITE}-2`, packages: [...PACKAGES, ...IMAGE_WORK] };

/**
 * Every image: its Dockerfile, its base, whether it takes programs that Go builds, the images that it is built on by the name of the
 * argument, and whether it has an archive to load into a cluster: what only other images are built on has none.
 */
const IMAGES = {
  aee: { dockerfile: 'deploy/images/aee/Dockerfile', base: BASE, programs: true },
  util: { dockerfile: 'deploy/images/util/Dockerfile', base: BASE, programs: false },
  muster: { dockerfile: 'deploy/images/muster/Dockerfile', base: WIDE_BASE, programs: false },
  operator: {
    dockerfile: 'deploy/images/operator/Dockerfile',
    base: BASE,
    programs: false,
    on: { MUSTER: 'muster' },
    archived: false,
  },
  // For tests: what sites bring along themselves.
  'compatible-runner': {
    dockerfile: 'test/support/images/compatible-runner/Dockerfile',
    base: BASE,
    programs: false,
  },
  'reference-operator': {
    dockerfile: 'test/support/images/reference-operator/Dockerfile',
    base: BASE,
    programs: false,
    on: { OPERATOR: 'operator' },
  },
};
const ARCHIVED = Object.keys(IMAGES).filter((short) => IMAGES[short].archived !== false);

/** So many versions of each image stay in the cache, and those that a run of the tests may still use: asked for in this time, ms. */
const KEPT = 4;
const IN_USE_MS = 3 * 60 * 60 * 1000;

/** @typedef {{name: string, archive: string}} BuiltImage name as a pod gives it, and the archive to load into a cluster */

/**
 * Builds the images whose sources have changed; with nothing changed it reads files only and is done in a moment.
 * @param {{root?: string, only?: string[]}} [options] root: the checkout whose sources are taken; only: not all images that have an archive
 * @returns {Promise<Record<string, BuiltImage>>} by short name: aee, util ...
 * @throws {SetupError} when the disk is too full
 */
export async function ensureImages({ root = ROOT, only = ARCHIVED } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wantedOf = wantedImages(root, version);
  const built = {};
  for (const short of only) {
    const wanted = wantedOf(short);
    if (!existsSync(wanted.archive)) await buildLocked(root, short, version, wantedOf);
    touch(wanted.archive);
    built[short] = wanted;
  }
  return built;
}

/** Answers name and archive of an image as the checkout has it now; what it is built on counts as well. */
function wantedImages(root, version) {
  const known = new Map();
  const wantedOf = (short) => {
    const found = known.get(short);
    if (found !== undefined) return found;
    const image = IMAGES[short];
    const programs = image.programs ? programVersions() : [];
    const below = Object.values(image.on ?? {}).map((other) => wantedOf(other).name);
    const tag = `${version}-${inputsHash(root, image.dockerfile, [image.base.name, ...programs, ...below])}`;
    const wanted = { name: `localhost/muster/${short}:${tag}`, archive: join(IMAGES_DIR, `${short}-${tag}.tar`) };
    known.set(short, wanted);
    return wanted;
  };
  return wantedOf;
}

function buildLocked(root, short, version, wantedOf) {
  const { name, archive } = wantedOf(short);
  return withLock(
    `images ${IMAGES_DIR}`,
    async () => {
      if (existsSync(archive)) return;
      removeUnfinished();
      checkDisk();
      const made = await build(root, short, version, wantedOf);
      await step(`Writing the archive of ${name}`, async (onDetail) => {
        const work = mkdtempSync(join(IMAGES_DIR, 'archive.tmp-'));
        try {
          await writeArchive(name, join(work, 'image.tar'), onDetail);
          renameSync(join(work, 'image.tar'), archive);
        } finally {
          rmSync(work, { recursive: true, force: true });
        }
      });
      for (const one of made) await removeOld(one);
    },
    (text) => process.stderr.write(`  images: ${text}\n`),
  );
}

/** Builds an image into the storage, after those that it is built on and that are not there. Answers the short names of what it built, the last first. */
async function build(root, short, version, wantedOf) {
  const image = IMAGES[short];
  const on = Object.entries(image.on ?? {}).map(([argument, other]) => [argument, other, wantedOf(other).name]);
  const made = [];
  for (const [, other, name] of on) {
    if (!hasImage(name)) made.unshift(...(await build(root, other, version, wantedOf)));
  }
  const contexts = image.programs ? { programs: await ensurePrograms() } : {};
  const { name: base, packages } = image.base;
  if (!hasImage(base)) {
    await step('Making the base of the images', (onDetail) => makeBase(base, SUITE, packages, onDetail));
  }
  const { name } = wantedOf(short);
  const args = {
    BASE: base,
    VERSION: version,
    ...Object.fromEntries(on.map(([argument, , below]) => [argument, below])),
  };
  await step(`Building the image ${name}`, (onDetail) =>
    buildImage({ name, context: root, dockerfile: image.dockerfile, args, contexts }, onDetail),
  );
  return [short, ...made];
}

/** What a build that was killed has left; whoever holds the lock is alone here. */
function removeUnfinished() {
  if (!existsSync(IMAGES_DIR)) return;
  for (const name of readdirSync(IMAGES_DIR)) {
    if (name.includes('.tmp-')) rmSync(join(IMAGES_DIR, name), { recursive: true, force: true });
  }
}

async function removeOld(short) {
  for (const name of imageNames(`localhost/muster/${short}`).slice(KEPT)) {
    const archive = join(IMAGES_DIR, `${short}-${name.split(':').at(-1)}.tar`);
    const used = statSync(archive, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - used < IN_USE_MS) continue;
    await removeImage(name);
    rmSync(archive, { force: true });
  }
}

function programVersions() {
  return findOnPath('go') || existsSync(programsFolder()) ? [`sops ${SOPS_VERSION}`] : [];
}

function programsFolder() {
  return join(CACHE_DIR, `sops-${SOPS_VERSION}`);
}

/** Folder with the program sops, which Debian does not have; empty where there is no Go to build it with. */
async function ensurePrograms() {
  const folder = programsFolder();
  if (existsSync(folder)) return folder;
  const work = mkdtempSync(join(CACHE_DIR, 'sops.tmp-'));
  if (!findOnPath('go')) {
    const empty = join(IMAGES_DIR, 'no-programs');
    mkdirSync(empty, { recursive: true });
    rmSync(work, { recursive: true });
    return empty;
  }
  try {
    await step(`Building sops ${SOPS_VERSION}`, (onDetail) => {
      const env = goEnvironment({ ...process.env, GOBIN: work });
      const source = `github.com/getsops/sops/v3/cmd/sops@v${SOPS_VERSION}`;
      return run('go', ['install', '-trimpath', '-ldflags', '-s -w', source], { env, onLine: onDetail });
    });
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** So that what is in use is not taken for old. */
function touch(file) {
  const now = new Date();
  utimesSync(file, now, now);
}
