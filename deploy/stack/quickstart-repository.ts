import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export interface QuickstartRepository {
  /** file: URL to clone from. */
  url: string;
  commit: string;
}

/**
 * Makes a git repository of the quickstart playbooks, or brings the one of an earlier demo up to date, so that the
 * demo's clone is a real one. No git configuration of the user is read.
 */
export async function makeQuickstartRepository(source: string, folder: string): Promise<QuickstartRepository> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name !== '.git') await rm(join(folder, name), { recursive: true, force: true });
  }
  await cp(source, folder, { recursive: true });
  await git(folder, 'init', '--quiet', '--initial-branch=main');
  await git(folder, 'add', '--all');
  if ((await git(folder, 'status', '--porcelain')) !== '') {
    await git(folder, 'commit', '--quiet', '--message', 'Quickstart playbooks');
  }
  return { url: pathToFileURL(folder).href, commit: await git(folder, 'rev-parse', 'HEAD') };
}

async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['-C', folder, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Muster demo',
      GIT_AUTHOR_EMAIL: 'demo@localhost',
      GIT_COMMITTER_NAME: 'Muster demo',
      GIT_COMMITTER_EMAIL: 'demo@localhost',
    },
  });
  return stdout.trim();
}
