import { resolve } from 'node:path';
import { PATH_SETTINGS } from './environment.ts';

/**
 * The environment with every file and folder as its whole path: processes that are started with it work in other folders. What
 * only the command line reads (its token) is left out, since no other process needs it.
 */
export function environmentOfProcesses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MUSTER_TOKEN: _token, MUSTER_TOKEN_FILE: _file, ...rest } = env;
  const paths = PATH_SETTINGS.flatMap((name) => {
    const path = rest[name];
    if (!path) return [];
    // A program without a slash is looked for in the search path.
    const isWord = name === 'MUSTER_PLAYBOOK_COMMAND' && !path.includes('/');
    return isWord ? [] : [[name, resolve(path)] as const];
  });
  return { ...rest, ...Object.fromEntries(paths) };
}
