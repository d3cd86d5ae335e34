/** The files of a run, by which the worker and the launcher meet. */
import { link, mkdir, open, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ClaimFile,
  ClaimFileSchema,
  type ExitFile,
  ExitFileSchema,
  type ResultsFile,
  ResultsFileSchema,
} from '../../domain/runs/schema.ts';

export interface RunPaths {
  dir: string;
  spec: string;
  mask: string;
  claim: string;
  exit: string;
  events: string;
  output: string;
  results: string;
}

export function runPaths(runsDir: string, runId: string): RunPaths {
  const dir = join(runsDir, runId);
  return {
    dir,
    spec: join(dir, 'spec.json'),
    mask: join(dir, 'mask.json'),
    claim: join(dir, 'claim'),
    exit: join(dir, 'exit.json'),
    events: join(dir, 'events.jsonl'),
    output: join(dir, 'output.log'),
    results: join(dir, 'results.json'),
  };
}

export async function makeRunDirectory(paths: RunPaths): Promise<void> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
}

/** Writes a file that only we may read, whole or not at all. */
export async function writePrivate(path: string, content: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

/** Makes `path` with its content unless it is there; answers whether it was made. Atomic between processes. */
export async function createExclusive(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${process.pid}.${Date.now()}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export async function readClaim(paths: RunPaths): Promise<ClaimFile | null> {
  const json = await readJson(paths.claim);
  return json === null ? null : ClaimFileSchema.parse(json);
}

export async function readExit(paths: RunPaths): Promise<ExitFile | null> {
  const json = await readJson(paths.exit);
  return json === null ? null : ExitFileSchema.parse(json);
}

/** What the hosts reached; null when the playbook never came to its statistics. */
export async function readResults(paths: RunPaths): Promise<ResultsFile | null> {
  const json = await readJson(paths.results);
  return json === null ? null : ResultsFileSchema.parse(json);
}

/** Bytes of a file from `start` on, at most `limit`; empty when there is nothing (yet). */
export async function readFrom(path: string, start: number, limit: number): Promise<Buffer> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const buffer = Buffer.alloc(limit);
    const { bytesRead } = await file.read(buffer, 0, limit, start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function removeRunDirectory(paths: RunPaths): Promise<void> {
  await rm(paths.dir, { recursive: true, force: true });
}
