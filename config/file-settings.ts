import { resolve } from 'node:path';

/** Settings that name a file or a folder, and are handed on; the data directory is said by whoever starts a process. */
export const PATH_SETTINGS = [
  'MUSTER_ADMIN_TOKEN_FILE',
  'MUSTER_TLS_CERT',
  'MUSTER_TLS_KEY',
  'MUSTER_CA_FILE',
  'MUSTER_DATABASE_CA_FILE',
  'MUSTER_TEMPORAL_TLS_CA',
  'MUSTER_TEMPORAL_TLS_CERT',
  'MUSTER_TEMPORAL_TLS_KEY',
  'MUSTER_MAC_KEY_FILE',
  'MUSTER_TEMPORAL_BINARY',
  'MUSTER_VAULT_JWT_FILE',
  'MUSTER_ARA_CREDENTIALS_FILE',
  'MUSTER_IMS_TOKEN_FILE',
  'MUSTER_IMAGES_DIR',
  'MUSTER_IMAGE_JOBS_DIR',
  'MUSTER_RUNNER_KUBECONFIG',
  'MUSTER_ANSIBLE_BIN_DIR',
  'MUSTER_PLAYBOOK_COMMAND',
  'MUSTER_CACHE_DIR',
] as const;

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
