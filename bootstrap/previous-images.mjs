import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { output } from './commands.mjs';
import { ignoreRules } from './image-inputs.mjs';
import { ensureImages } from './images.mjs';
import { ROOT } from './settings.mjs';

/** The release before the first that has a tag. */
const FIRST_BASE = 'b7f60b888dd25394aff25759627c98226af83942';
const RELEASED = ['muster', 'aee', 'util'];
/** The chart is no part of an image, and of the release nevertheless. */
const CHART = 'deploy/chart';
const MUSTERS_FILE = 'deploy/images/muster/Dockerfile';
const MARK = 'deploy/previous-release';

/**
 * The release before this checkout's, for tests of upgrades of the chart and of a plain stack alike: its sources in a folder, and its
 * images. It is the newest tag before this commit; before the first tag, one certain commit. Where history has neither, as in a shallow
 * clone, it is this checkout with a mark in it, so that the image of Muster has another name and another content.
 * @param {string} folder is made; gets the sources, the chart among them
 * @param {string} [root] the checkout
 * @returns {Promise<{from: string, images: Record<string, import('./images.mjs').BuiltImage>}>} from: a sentence that says which
 */
export async function ensurePreviousImages(folder, root = ROOT) {
  const from = unpackPrevious(folder, root);
  return { from, images: await ensureImages({ root: folder, only: RELEASED }) };
}

/** Builds them for whoever wants them later. */
export async function buildPreviousImages() {
  const folder = mkdtempSync(join(tmpdir(), 'muster-previous-'));
  try {
    await ensurePreviousImages(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Lays the sources of the previous release into a folder; nothing of the checkout and its history is changed.
 * @param {string} folder
 * @param {string} root
 * @param {string} [firstBase] commit that it is before the first tag
 * @returns {string} which they are
 */
export function unpackPrevious(folder, root, firstBase = FIRST_BASE) {
  mkdirSync(folder, { recursive: true });
  const { commit, reason } = findPrevious(root, firstBase);
  if (commit === undefined) {
    copyMarked(folder, root);
    return `this checkout with a mark: ${reason}`;
  }
  const work = mkdtempSync(join(tmpdir(), 'muster-archive-'));
  try {
    const archive = join(work, 'sources.tar');
    execFileSync('git', ['-C', root, '-c', 'tar.umask=0022', 'archive', `--output=${archive}`, commit]);
    execFileSync('tar', ['-x', '-f', archive, '-C', folder]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return `commit ${commit.slice(0, 12)}`;
}

function findPrevious(root, firstBase) {
  const git = (...args) => output('git', ['--no-optional-locks', '-C', root, ...args])?.trim();
  if (git('rev-parse', 'HEAD') === undefined) return { reason: 'it has no history' };
  const tag = git('describe', '--tags', '--abbrev=0', 'HEAD^');
  const isBefore = git('merge-base', '--is-ancestor', firstBase, 'HEAD') !== undefined;
  const commit = tag ? git('rev-list', '-n', '1', tag) : isBefore ? firstBase : undefined;
  if (commit === undefined) return { reason: 'its history has no release' };
  if (git('cat-file', '-e', `${commit}:${MUSTERS_FILE}`) === undefined) {
    return { reason: `commit ${commit.slice(0, 12)} makes no images` };
  }
  return { commit };
}

function copyMarked(folder, root) {
  const ignored = ignoreRules(root);
  const isOfRelease = (path) => !ignored(path) || path === '.dockerignore' || path.startsWith(CHART);
  cpSync(root, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => isOfRelease(relative(root, source) || '.'),
  });
  writeFileSync(join(folder, MARK), 'So that an upgrade has something to upgrade from.\n');
}
