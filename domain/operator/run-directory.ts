import { absolutePath } from './paths.ts';
import type { Script } from './watch-entry.ts';

export interface RunDirectoryInput {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Path of the run's kubeconfig. */
  kubeconfig: string;
  variables: Record<string, unknown>;
  script: Script;
  /** Value of `--ansible-args`. */
  ansibleArgs: string;
}

/** The private directory of a run before `ansible-runner` starts. Paths are relative to it. */
export interface RunDirectory {
  files: { path: string; text: string }[];
  /** `whole`: a folder goes to `to` with all that is in it; a file becomes `to/hosts`. */
  copies: { from: string; to: string; whole: boolean }[];
}

/** Returns what stands in the directory of a run. */
export function runDirectory(input: RunDirectoryInput): RunDirectory {
  const { env, kubeconfig, script, home } = input;
  const cmdline = withoutQuotes(input.ansibleArgs);
  const inventory = env.ANSIBLE_INVENTORY;
  return {
    files: [
      { path: 'env/envvars', text: JSON.stringify({ K8S_AUTH_KUBECONFIG: kubeconfig, KUBECONFIG: kubeconfig }) },
      { path: 'env/extravars', text: JSON.stringify(input.variables) },
      { path: 'env/settings', text: '{}' },
      ...(cmdline === '' ? [] : [{ path: 'env/cmdline', text: cmdline }]),
      ...(inventory ? [] : [{ path: 'inventory/hosts', text: localInventory(env.VIRTUAL_ENV) }]),
    ],
    copies: [
      ...(inventory ? [{ from: absolutePath(home, inventory), to: 'inventory', whole: true }] : []),
      ...(script.playbook === null ? [] : [{ from: script.playbook, to: 'project/playbook.yaml', whole: false }]),
    ],
  };
}

/** Returns what is removed of the directory at the end of the run: it holds the spec, paths of credentials and the environment. */
export function removedAtEnd(ident: string): string[] {
  return ['env', 'inventory', `artifacts/${ident}/fact_cache`, `artifacts/${ident}/command`];
}

/** One pair of single quotes around all of it is not meant for Ansible. */
function withoutQuotes(text: string): string {
  return text.length > 1 && text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1) : text;
}

function localInventory(virtualEnvironment: string | undefined): string {
  const python = virtualEnvironment ? `${virtualEnvironment}/bin/python3` : '{{ansible_playbook_python}}';
  return `localhost ansible_connection=local ansible_python_interpreter=${python}\n`;
}
