/** The files of a run, by which the worker and the launcher meet. */
import { randomUUID } from 'node:crypto';
import { access, link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderName } from '../../domain/runs/folder-name.ts';
import {
  type ClaimFile,
  ClaimFileSchema,
  type ExitFile,
  ExitFileSchema,
  MasksSchema,
  type ResultsFile,
  ResultsFileSchema,
  type RunTrace,
  TraceSchema,
} from '../../domain/runs/schema.ts';

export interface RunPaths {
  dir: string;
  spec: string;
  mask: string;
  environment: string;
  claim: string;
  exit: string;
  events: string;
  output: string;
  results: string;
  /** What an action finds: files of its definition, inputs, secrets. */
  action: string;
}

/**
 * Where everything of a run lies.
 * @throws `bad_data` for what is no run's id
 */
export function runPaths(runsDir: string, runId: string): RunPaths {
  const dir = join(runsDir, folderName(runId));
  return {
    dir,
    spec: join(dir, 'spec.json'),
    mask: join(dir, 'mask.json'),
    environment: join(dir, 'environment.json'),
    claim: join(dir, 'claim'),
    exit: join(dir, 'exit.json'),
    events: join(dir, 'events.jsonl'),
    output: join(dir, 'output.log'),
    results: join(dir, 'results.json'),
    action: join(dir, 'action'),
  };
}

export async function makeRunDirectory(paths: RunPaths): Promise<void> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
}

/** Writes a file that only we may read, whole or not at all. */
export async function writePrivate(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes `path` with its content unless it is there; answers whether it was made. Atomic between processes. */
export async function createExclusive(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A claim that names no process: of a run that was ended before it began, or one that cannot be read any more. */
const NOBODY: ClaimFile = { pid: 0, start_time: '', boot_id: '' };

/** What a file holds: `absent` when there is none, `broken` when it is not what it should be. */
async function readJson<T>(path: string, parse: (json: unknown) => T): Promise<T | 'absent' | 'broken'> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw error;
  }
  try {
    return parse(JSON.parse(text));
  } catch {
    return 'broken';
  }
}

/** Who executes the run; null when nobody claimed it. A claim that cannot be read is one of a process that is gone. */
export async function readClaim(paths: RunPaths): Promise<ClaimFile | null> {
  const claim = await readJson(paths.claim, ClaimFileSchema.parse);
  return claim === 'absent' ? null : claim === 'broken' ? NOBODY : claim;
}

/** How the run ended; null when it has not, or when its end cannot be read any more. */
export async function readExit(paths: RunPaths): Promise<ExitFile | null> {
  const exit = await readJson(paths.exit, ExitFileSchema.parse);
  return exit === 'absent' || exit === 'broken' ? null : exit;
}

/** What the hosts reached; `absent` when the playbook never came to its statistics. */
export function readResults(paths: RunPaths): Promise<ResultsFile | 'absent' | 'broken'> {
  return readJson(paths.results, ResultsFileSchema.parse);
}

/** Who writes the events of the run, as its launcher was told; `journal` for a run whose spec cannot be read. */
export async function readTrace(paths: RunPaths): Promise<RunTrace> {
  const trace = await readJson(paths.spec, (spec) => TraceSchema.parse(spec).trace);
  return trace === 'absent' || trace === 'broken' ? 'journal' : trace;
}

/** Secrets that may not show, of a run whose launcher left them; none where the file is gone. */
export async function readMasks(paths: RunPaths): Promise<string[]> {
  const masks = await readJson(paths.mask, MasksSchema.parse);
  return masks === 'absent' || masks === 'broken' ? [] : masks;
}

/** Removes the run's secrets, should nobody have done so; only for a run that has ended. */
export async function removeSecrets(paths: RunPaths): Promise<void> {
  await rm(paths.mask, { force: true });
  await rm(paths.environment, { force: true });
  await rm(paths.action, { recursive: true, force: true, maxRetries: 3 });
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
  await rm(paths.dir, { recursive: true, force: true, maxRetries: 3 });
}

/** Whether the keeper of a killed launcher has seen the last process of the run go. */
export async function wasKept(paths: RunPaths): Promise<boolean> {
  return access(join(paths.dir, 'kept')).then(
    () => true,
    () => false,
  );
}
