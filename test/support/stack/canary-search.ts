/** Looks for words in everything that may show a secret: what is on the disk, and command lines and environments of all processes. */
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ProcessWatch {
  /** Words that a process showed, with what it is. */
  found(): string[];
  /** How many looks there were, and how many processes the last one saw. */
  looks(): { count: number; processes: number };
  stop(): Promise<void>;
}

/** Looks at all processes of the machine but this one, again and again. */
export function watchProcesses(words: readonly string[]): ProcessWatch {
  const found = new Set<string>();
  let [count, processes, stopped] = [0, 0, false];
  const look = () => {
    const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && name !== String(process.pid));
    for (const pid of pids) {
      for (const file of ['cmdline', 'environ']) {
        const text = contentOf(`/proc/${pid}/${file}`);
        // git gets a password by its environment, which its own user alone can read.
        if (file === 'environ' && text.includes('MUSTER_GIT_PASSWORD=')) continue;
        for (const word of words) if (text.includes(word)) found.add(`${word} in ${file} of ${nameOf(pid)}`);
      }
    }
    [count, processes] = [count + 1, pids.length];
  };
  const working = (async () => {
    while (!stopped) {
      look();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    found: () => [...found].sort(),
    looks: () => ({ count, processes }),
    stop: async () => {
      stopped = true;
      await working;
    },
  };
}

const nameOf = (pid: string): string => contentOf(`/proc/${pid}/comm`).trim() || pid;

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Files below a folder that hold one of the words; entries of the folder that are named in `without` are left out. */
export async function filesWith(words: readonly string[], folder: string, without: readonly string[] = []) {
  const found: string[] = [];
  let looked = 0;
  for (const path of await filesBelow(folder, await readdir(folder, { withFileTypes: true }), without)) {
    looked += 1;
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    for (const word of words) if (bytes.includes(word)) found.push(`${word} in ${path.slice(folder.length + 1)}`);
  }
  return { found, looked };
}

/** Paths of the files among the entries of a folder, and below them; what goes while it is read has none. */
async function filesBelow(folder: string, entries: Dirent[], without: readonly string[] = []): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (without.includes(entry.name)) continue;
    if (entry.isFile()) paths.push(path);
    if (!entry.isDirectory()) continue;
    const inside = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    paths.push(...(await filesBelow(path, inside)));
  }
  return paths;
}
