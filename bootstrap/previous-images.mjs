import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { output } from './commands.mjs';
import { ignoreRules } from './image-inputs.mjs';
import { ensureImages } from './images.mjs';
import { ROOT } from './settings.mjs';

/** So many commits are looked at. */
const LOOK_BACK = 30;
const RELEASED = ['muster', 'aee', 'util'];
/** The chart is no part of an image, and of the release nevertheless. */
const CHART = 'deploy/chart';
const MUSTERS_FILE = 'deploy/images/muster/Dockerfile';
const MARK = 'deploy/previous-release';

/**
 * The release before this checkout's, for tests of upgrades: its sources in a folder, and its images. It is the newest commit whose
 * images differ from those of this checkout; one that changed documents or tests alone makes none. Where history has no such commit,
 * it is this checkout with a mark in it, so that the image of Muster has another name and another content.
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
 * @returns {string} which they are
 */
export function unpackPrevious(folder, root) {
  mkdirSync(folder, { recursive: true });
  const { commit, reason } = findPrevious(root);
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

function findPrevious(root) {
  const git = (...args) => output('git', ['--no-optional-locks', '-C', root, ...args]);
  const listed = git('rev-list', '--first-parent', `--max-count=${LOOK_BACK}`, 'HEAD');
  if (listed === undefined) return { reason: 'it has no history' };
  const ignored = ignoreRules(root);
  for (const commit of listed.split('\n').filter((line) => line !== '')) {
    if (git('cat-file', '-e', `${commit}:${MUSTERS_FILE}`) === undefined) {
      return { reason: `commit ${commit.slice(0, 12)} makes no images` };
    }
    const changed = (git('diff', '--name-only', '-z', commit, '--') ?? '').split('\0');
    if (changed.some((path) => path !== '' && !ignored(path))) return { commit };
  }
  return { reason: 'its history has no commit with other images' };
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
