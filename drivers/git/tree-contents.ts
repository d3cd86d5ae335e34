import type { Submodule } from '../../domain/configurations/submodules.ts';
import type { RunGit } from './git-process.ts';

/** What of a commit's tree is not in the tree itself. */
export interface TreeContents {
  submodules: Submodule[];
  /** Whether a file says how others are stored. */
  hasAttributes: boolean;
  hasLfsConfig: boolean;
}

/** Looks through the whole tree of the commit that is checked out in `folder`; however large it is, only what matters is kept. */
export async function treeContents(run: RunGit, folder: string, signal: AbortSignal): Promise<TreeContents> {
  const found: TreeContents = { submodules: [], hasAttributes: false, hasLfsConfig: false };
  await eachEntry(run, ['-C', folder, 'ls-tree', '-r', '-z', 'HEAD'], signal, (entry) => {
    if (entry.startsWith('160000 ')) {
      const [head = '', path = ''] = entry.split(/\t(.*)/s);
      found.submodules.push({ path, commit: head.split(' ')[2] ?? '' });
    } else if (entry.endsWith('.gitattributes')) found.hasAttributes = true;
    else if (entry.endsWith('\t.lfsconfig')) found.hasLfsConfig = true;
  });
  return found;
}

/** Paths of the files that git-lfs is to fill in. */
export async function lfsPaths(run: RunGit, folder: string, signal: AbortSignal): Promise<string[]> {
  const paths: string[] = [];
  const command = ['-C', folder, 'ls-files', '-z', '--', ':(attr:filter=lfs)'];
  await eachEntry(run, command, signal, (path) => void paths.push(path));
  return paths;
}

/** Calls `take` with each entry that ends with NUL. */
async function eachEntry(
  run: RunGit,
  command: string[],
  signal: AbortSignal,
  take: (entry: string) => void,
): Promise<void> {
  let rest = '';
  await run(command, {
    signal,
    onOutput: (text) => {
      const entries = (rest + text).split('\0');
      rest = entries.pop() ?? '';
      entries.forEach(take);
    },
  });
}
