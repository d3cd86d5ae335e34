/** What an image has for a login, found without running anything of it. */
import { constants, lstat, open, readFile } from 'node:fs/promises';
import { resolveInRoot } from './root-paths.ts';

export interface RootLogin {
  home: string;
  /** Null when the image has none that is there. */
  shell: string | null;
  /** For people: what will make work in it difficult. */
  warnings: string[];
}

const PYTHONS = ['usr/bin/python3', 'usr/local/bin/python3', 'bin/python3', 'usr/libexec/platform-python'];
/** Accounts in a larger file are not looked for, bytes. */
const MAX_ACCOUNTS = 1_048_576;
const FALLBACK_SHELL = '/bin/sh';
/** Programs that stand in passwd to say that nobody is to log in: on the machine that the image becomes, not where it is worked on. */
const NO_SHELL = /\/(nologin|false)$/;
/** Machines of ELF programs, as node calls them. */
const MACHINES: Readonly<Record<number, string>> = { 3: 'ia32', 62: 'x64', 183: 'arm64', 243: 'riscv64' };

/** Root's home and shell by the image's own accounts; a shell that is not there, or is none, is replaced by /bin/sh. */
export async function lookIntoImage(root: string): Promise<RootLogin> {
  const accounts = await resolveInRoot(root, 'etc/passwd');
  const entry = accounts === null ? null : await lstat(accounts);
  const isReadable = entry?.isFile() && entry.size <= MAX_ACCOUNTS;
  const text = accounts !== null && isReadable ? await readFile(accounts, 'utf8') : '';
  const fields = /^root:.*$/m.exec(text)?.[0].split(':') ?? [];
  const home = isPath(fields[5]) ? fields[5] : '/root';
  const shells = [fields[6], FALLBACK_SHELL].filter(isPath).filter((shell) => !NO_SHELL.test(shell));
  for (const shell of shells) {
    const program = await programIn(root, shell);
    if (program === null) continue;
    return { home, shell, warnings: [...(await machineWarning(program)), ...(await pythonWarning(root))] };
  }
  return { home, shell: null, warnings: [] };
}

/** A word of passwd that may stand in ours. */
function isPath(text: string | undefined): text is string {
  return text !== undefined && /^\/[A-Za-z0-9._/-]*$/.test(text);
}

async function programIn(root: string, path: string): Promise<string | null> {
  const found = await resolveInRoot(root, path);
  if (found === null) return null;
  const entry = await lstat(found);
  return entry.isFile() && (entry.mode & 0o111) !== 0 ? found : null;
}

async function pythonWarning(root: string): Promise<string[]> {
  for (const path of PYTHONS) if ((await programIn(root, path)) !== null) return [];
  return ['the image has no python3, which Ansible needs in it (only its raw module works without)'];
}

async function machineWarning(program: string): Promise<string[]> {
  const file = await open(program, constants.O_RDONLY);
  try {
    const header = Buffer.alloc(20);
    await file.read(header, 0, header.length, 0);
    const isElf = header.toString('latin1', 0, 4) === '\x7fELF';
    const machine = isElf ? MACHINES[header.readUInt16LE(18)] : undefined;
    if (machine === undefined || machine === process.arch) return [];
    return [`programs of the image are for ${machine}, this machine is ${process.arch}`];
  } finally {
    await file.close();
  }
}
