/** The private directory of a run, below the folder in which its launcher keeps its files. */
import { cp, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunDirectories } from '../../domain/operator/ports.ts';
import { removedAtEnd } from '../../domain/operator/run-directory.ts';
import { folderName } from '../../domain/runs/folder-name.ts';
import { createMask } from '../../domain/runs/mask.ts';
import { readExit, readMasks, runPaths, writePrivate } from '../local-runner/run-files.ts';

/** Of the output so much is read from its end, bytes. */
const END_BYTES = 64 * 1024;

/** Makes the directories of the runs of this machine. `runsDir`: folder with a folder for each run. */
export function createRunDirectories(runsDir: string): RunDirectories {
  const folderOf = (runId: string): string => join(runsDir, folderName(runId));
  const directoryOf = (runId: string): string => join(folderOf(runId), 'runner');
  const kubeconfigOf = (runId: string): string => join(folderOf(runId), 'kubeconfig');
  const output = async (runId: string, maxBytes: number): Promise<string | null> => {
    const text = await readEnd(join(directoryOf(runId), 'artifacts', runId, 'stdout'), maxBytes);
    return text === null ? null : createMask(await readMasks(runPaths(runsDir, runId)))(text);
  };
  return {
    paths: (runId) => ({ directory: directoryOf(runId), kubeconfig: kubeconfigOf(runId) }),
    make: async (runId, { files, copies }, kubeconfig, secrets) => {
      const directory = directoryOf(runId);
      await rm(directory, { recursive: true, force: true });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      for (const { path, text } of files) {
        await mkdir(dirname(join(directory, path)), { recursive: true, mode: 0o700 });
        await writePrivate(join(directory, path), text);
      }
      for (const { from, to, whole } of copies) await copyInto(from, join(directory, to), whole);
      await writePrivate(kubeconfigOf(runId), kubeconfig);
      if (secrets.length > 0) await writePrivate(runPaths(runsDir, runId).mask, JSON.stringify(secrets));
    },
    output,
    lastLines: async (runId) => (await output(runId, END_BYTES))?.split('\n') ?? null,
    endedAt: async (runId) => {
      const exit = await readExit(runPaths(runsDir, runId));
      return exit === null ? null : new Date(exit.ended_at);
    },
    tidy: async (runId) => {
      for (const path of removedAtEnd(runId))
        await rm(join(directoryOf(runId), path), { recursive: true, force: true });
      await rm(kubeconfigOf(runId), { force: true });
      await rm(runPaths(runsDir, runId).mask, { force: true });
    },
    dropArtifacts: (runId) => rm(join(directoryOf(runId), 'artifacts'), { recursive: true, force: true }),
  };
}

/** A folder is copied with all that is in it. Where a folder may be given, a file becomes its `hosts`. */
async function copyInto(from: string, to: string, whole: boolean): Promise<void> {
  const isFolder = (await stat(from)).isDirectory();
  const target = whole && !isFolder ? join(to, 'hosts') : to;
  await mkdir(whole && isFolder ? to : dirname(target), { recursive: true, mode: 0o700 });
  if (!isFolder) return cp(from, target);
  for (const name of await readdir(from)) await cp(join(from, name), join(to, name), { recursive: true });
}

async function readEnd(path: string, maxBytes: number): Promise<string | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}
