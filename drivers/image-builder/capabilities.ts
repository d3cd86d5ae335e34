/** Capabilities of Linux: what the builder needs, what it leaves to a login. */
import { readFile } from 'node:fs/promises';

/** Names by their number in a mask of /proc. */
const NAMES = [
  'chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service',
  'net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin',
  'sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap',
].flatMap((line) => line.split(' '));

/** Without one of these an image cannot be unpacked as it is, entered, or packed (docs/lanes/images.md). */
export const NEEDED = [
  ...['chown', 'dac_override', 'fowner', 'fsetid', 'mknod', 'setfcap'],
  ...['setgid', 'setuid', 'setpcap', 'sys_admin', 'sys_chroot'],
  // A login with a terminal, as Ansible's are, is told to the audit of the kernel.
  'audit_write',
] as const;

/** What programs in an image expect of root; whatever reaches the machine itself is not among it. */
const LOGIN = [
  ...['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap', 'net_bind_service'],
  ...['net_raw', 'sys_chroot', 'mknod', 'audit_write', 'setfcap'],
];
/** Also for what unpacks and packs: some extended attributes belong to the administrator of the machine alone. */
const TOOL = [...LOGIN, 'dac_read_search', 'sys_admin'];

/** Capabilities that this process has. */
export async function ownCapabilities(): Promise<Set<string>> {
  const status = await readFile('/proc/self/status', 'utf8');
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return new Set(NAMES.filter((_, bit) => (mask & (1n << BigInt(bit))) !== 0n));
}

/** The bounding set of a login or of a tool, as `setpriv` takes it: never more than this process has itself. */
export async function boundingSet(kind: 'shell' | 'tool'): Promise<string> {
  const own = await ownCapabilities();
  const kept = (kind === 'shell' ? LOGIN : TOOL).filter((name) => own.has(name));
  return ['-all', ...kept.map((name) => `+${name}`)].join(',');
}
