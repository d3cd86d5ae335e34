/** How a shell action is begun and ended at a target: the words of ssh, and the command there. */
import type { InventoryTree } from '../components/inventory/inventory-tree.ts';
import { musterError } from '../errors.ts';
import { hostKeyOptions, OWN_CONFIGURATION } from './action-login.ts';

/** Files that ssh logs in with. */
export interface LoginFiles {
  /** Private keys, in the order in which they are offered. */
  keys: readonly string[];
  /** File of known hosts whose one entry has the alias of the target; null: the known hosts and the ssh_config of the user, as sessions have them. */
  knownHosts: string | null;
  /** Without a file of known hosts of its own: whether a host whose key is not known is refused. */
  checksHosts: boolean;
}

/** A host that shell actions reach. */
export interface ShellHost {
  /** Command that logs in there; the command of the target is its last word. */
  ssh: string[];
  /** Interpreter there, as its shell reads it. */
  python: string;
  /** Whether the action becomes root. */
  become: boolean;
}

/** Options of every connection: it asks nobody, ends with who opened it, opens nothing else, and notices within a minute that it is lost. */
const OPTIONS: readonly string[] = [
  'BatchMode=yes',
  'LogLevel=ERROR',
  'ConnectTimeout=15',
  'ServerAliveInterval=15',
  'ServerAliveCountMax=4',
  'IdentitiesOnly=yes',
  'ControlMaster=no',
  'ControlPath=none',
  'ClearAllForwardings=yes',
  'ForwardAgent=no',
  'ForwardX11=no',
  'PermitLocalCommand=no',
  'RequestTTY=no',
];

/**
 * Returns how the one host of an inventory is reached by ssh.
 * Throws `not_supported` for a host whose tasks run on the machine of the worker.
 */
export function shellHost({ hosts }: InventoryTree, files: LoginFiles): ShellHost {
  const [found] = hosts;
  if (found === undefined) throw new Error('the inventory of an action has no host');
  const [name, variables] = found;
  if (variables.ansible_connection === 'local') {
    throw musterError(
      'not_supported',
      `${name} has the connection local: shell actions run on the machine of the worker with location_id localhost alone`,
      'location_id',
    );
  }
  const { ansible_host, ansible_port, ansible_user, ansible_python_interpreter, ansible_become } = variables;
  const options = [
    ...(files.knownHosts === null
      ? [`StrictHostKeyChecking=${files.checksHosts ? 'yes' : 'no'}`]
      : hostKeyOptions(files.knownHosts)),
    ...OPTIONS,
    ...files.keys.map((key) => `IdentityFile="${key.replaceAll('%', '%%')}"`),
  ];
  return {
    ssh: [
      'ssh',
      ...(files.knownHosts === null ? [] : OWN_CONFIGURATION),
      ...options.flatMap((option) => ['-o', option]),
      ...(ansible_port === undefined ? [] : ['-p', String(ansible_port)]),
      ...(ansible_user === undefined ? [] : ['-l', String(ansible_user)]),
      '--',
      String(ansible_host ?? name),
    ],
    python: String(ansible_python_interpreter ?? 'python3'),
    become: ansible_become === true,
  };
}

/** Reads the program from its input: a line with its length, then so many bytes. What follows is for the program. */
const BEGIN = 'import sys;f=sys.stdin.buffer;exec(compile(f.read(int(f.readline())),"remote_shell.py","exec"))';

/** Returns the words of a command that begins an action at its target; its processes carry the attempt in their environment. */
export function beginWords(host: ShellHost, attempt: string): string[] {
  return [...host.ssh, commandOf(host, `env MUSTER_ATTEMPT=${attempt} `)];
}

/** Returns the words of a command that ends an action at its target. It carries nothing by which it would end itself. */
export function endWords(host: ShellHost): string[] {
  return [...host.ssh, commandOf(host, '')];
}

/** The shell of the target may be any: what stands here means the same to all of them. */
function commandOf({ python, become }: ShellHost, environment: string): string {
  return `exec ${become ? 'sudo -n -H -- ' : ''}${environment}${python} -I -c '${BEGIN}'`;
}

/**
 * Returns the folder of an attempt at its target. It is made there by one who then owns it, under a name that nobody can know before; what
 * is left of it when the target itself goes down, the target's own clean-up of /tmp removes.
 */
export function targetFolder(attempt: string): string {
  return `/tmp/muster-${attempt}`;
}

/** Whether an ansible.cfg lets hosts in whose keys are not known, as sessions do. */
export function checksHostKeys(ansibleConfig: string): boolean {
  return !/^[ \t]*host_key_checking[ \t]*[=:][ \t]*(?:false|no|off|0|f|n)[ \t]*(?:;.*)?$/im.test(ansibleConfig);
}
