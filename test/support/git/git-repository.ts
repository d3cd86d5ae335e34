import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A real git repository to clone from. */
export interface TestRepository {
  path: string;
  url: string;
  git(...args: string[]): Promise<string>;
  /** Writes files (and links: name to target), commits all, answers the commit id. */
  commit(files: Record<string, string>, links?: Record<string, string>): Promise<string>;
}

/** Makes an empty repository with branch `main` at `path`; no configuration of the user is read. */
export async function createRepository(path: string): Promise<TestRepository> {
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
  };
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('git', ['-C', path, ...args], { env });
    return stdout.trim();
  };
  await mkdir(path, { recursive: true });
  await git('init', '--quiet', '--initial-branch=main');
  return {
    path,
    url: `file://${path}`,
    git,
    commit: async (files, links = {}) => {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), content);
      }
      for (const [name, target] of Object.entries(links)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await symlink(target, join(path, name));
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '--message', 'change');
      return git('rev-parse', 'HEAD');
    },
  };
}
