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

/** Every image: its Dockerfile, its base, and whether it takes programs that Go builds. */
const IMAGES = {
  aee: { dockerfile: 'deploy/images/aee/Dockerfile', base: BASE, programs: true },
  util: { dockerfile: 'deploy/images/util/Dockerfile', base: BASE, programs: false },
  muster: { dockerfile: 'deploy/images/muster/Dockerfile', base: WIDE_BASE, programs: false },
  // For tests: what sites bring along themselves.
  'compatible-runner': {
    dockerfile: 'test/support/images/compatible-runner/Dockerfile',
    base: BASE,
    programs: false,
  },
};

/** So many versions of each image stay in the cache, and those that a run of the tests may still use: asked for in this time, ms. */
const KEPT = 4;
const IN_USE_MS = 3 * 60 * 60 * 1000;

/** @typedef {{name: string, archive: string}} BuiltImage name as a pod gives it, and the archive to load into a cluster */

/**
 * Builds the images whose sources have changed; with nothing changed it reads files only and is done in a moment.
 * @param {{root?: string, only?: string[]}} [options] root: the checkout whose sources are taken; only: not all images
 * @returns {Promise<Record<string, BuiltImage>>} by short name: aee, util ...
 * @throws {SetupError} when the disk is too full
 */
export async function ensureImages({ root = ROOT, only = Object.keys(IMAGES) } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const built = {};
  for (const short of only) {
    const image = IMAGES[short];
    const programs = image.programs ? programVersions() : [];
    const tag = `${version}-${inputsHash(root, image.dockerfile, [image.base.name, ...programs])}`;
    const wanted = { name: `localhost/muster/${short}:${tag}`, archive: join(IMAGES_DIR, `${short}-${tag}.tar`) };
    if (!existsSync(wanted.archive)) await buildLocked(root, short, image, version, wanted);
    touch(wanted.archive);
    built[short] = wanted;
  }
  return built;
}

function buildLocked(root, short, image, version, { name, archive }) {
  return withLock(
    `images ${IMAGES_DIR}`,
    async () => {
      if (existsSync(archive)) return;
      removeUnfinished();
      checkDisk();
      const contexts = image.programs ? { programs: await ensurePrograms() } : {};
      const { name: base, packages } = image.base;
      if (!hasImage(base)) {
        await step('Making the base of the images', (onDetail) => makeBase(base, SUITE, packages, onDetail));
      }
      await step(`Building the image ${name}`, async (onDetail) => {
        const args = { BASE: base, VERSION: version };
        await buildImage({ name, context: root, dockerfile: image.dockerfile, args, contexts }, onDetail);
        onDetail('writing its archive');
        const work = mkdtempSync(join(IMAGES_DIR, 'archive.tmp-'));
        try {
          await writeArchive(name, join(work, 'image.tar'), onDetail);
          renameSync(join(work, 'image.tar'), archive);
        } finally {
          rmSync(work, { recursive: true, force: true });
        }
      });
      await removeOld(short);
    },
    (text) => process.stderr.write(`  images: ${text}\n`),
  );
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
