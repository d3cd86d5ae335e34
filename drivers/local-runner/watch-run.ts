import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { RESULTS_LOST } from '../../domain/runs/exit-status.ts';
import type { RunBatch, RunCursor, RunEnd } from '../../domain/runs/runner.ts';
import type { ExitFile } from '../../domain/runs/schema.ts';
import { storableText } from '../../domain/runs/storable-text.ts';
import { textChunkLength } from '../../domain/runs/text-chunk.ts';
import { isAlive } from '../machine/process-table.ts';
import { jobEvents } from './job-events.ts';
import { journalEvents, type ReadEvents } from './journal-events.ts';
import { type RunPaths, readClaim, readExit, readFrom, readResults, readTrace, removeSecrets } from './run-files.ts';

const OUTPUT_CHUNK = 256 * 1024;
/** Files are looked at this often even if the kernel reports no change, and at most this often when it does. */
const SLOW_MS = 1_000;
const FAST_MS = 250;

/**
 * Follows a claimed run to its end and hands over everything it writes, in order, from `cursor` on. Resolves when the
 * exit file is there and the last line was taken, or when the run is lost: its process gone without an exit file, or its
 * files gone altogether.
 */
export async function watchRun(
  paths: RunPaths,
  start: RunCursor,
  take: (batch: RunBatch) => Promise<void>,
  signal: AbortSignal,
): Promise<RunEnd> {
  const wake = wakeOnChange(paths.dir);
  const trace = await readTrace(paths);
  const readEvents = trace === 'job_events' ? await jobEvents(paths) : journalEvents(paths);
  let cursor = start;
  let missing = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const exit = await readExit(paths);
      if (exit === null) {
        const claim = await readClaim(paths);
        if (claim === null || !(await isAlive(claim))) missing += 1;
      }
      // Seen dead twice without an exit file that could have been written between the two looks.
      const lost = missing >= 2;
      cursor = await shipAll(paths, readEvents, cursor, exit !== null || lost, take);
      if (exit !== null || lost) {
        // Whoever reads what ansible-runner has left masks it too, and removes them then.
        if (trace !== 'job_events') await removeSecrets(paths);
        return endOf(paths, exit);
      }
      if (missing === 0) await wake.next(signal);
    }
  } finally {
    wake.close();
  }
}

async function endOf(paths: RunPaths, exit: ExitFile | null): Promise<RunEnd> {
  const results = await readResults(paths);
  if (results === 'broken') {
    return {
      exit,
      results: null,
      warnings: ['the results of the run cannot be read; its hosts have what their tasks say'],
    };
  }
  if (results !== 'absent') return { exit, results, warnings: [] };
  if (exit?.code !== 0 || !(await hasBegunResults(paths))) return { exit, results: null, warnings: [] };
  const warning =
    'the results of the run could not be written, most likely on a full disk; its hosts have what their tasks say';
  return { exit: { ...exit, code: RESULTS_LOST }, results: null, warnings: [warning] };
}

/**
 * Whether the run has what every playbook that runs hosts begins with: the file of its results, which are not whole yet. Programs that
 * stand in for ansible-playbook and runs that only check a playbook have none.
 */
async function hasBegunResults(paths: RunPaths): Promise<boolean> {
  return access(join(paths.dir, '.results.json')).then(
    () => true,
    () => false,
  );
}

async function shipAll(
  paths: RunPaths,
  readEvents: ReadEvents,
  start: RunCursor,
  atEnd: boolean,
  take: (batch: RunBatch) => Promise<void>,
): Promise<RunCursor> {
  let cursor = start;
  for (;;) {
    const batch = await readBatch(paths, readEvents, cursor, atEnd);
    if (batch === null) return cursor;
    await take(batch);
    cursor = batch.cursor;
  }
}

async function readBatch(
  paths: RunPaths,
  readEvents: ReadEvents,
  cursor: RunCursor,
  atEnd: boolean,
): Promise<RunBatch | null> {
  const { events, bytes } = await readEvents(cursor, atEnd);
  const outputBytes = await readFrom(paths.output, cursor.outputBytes, OUTPUT_CHUNK);
  const length = textChunkLength(outputBytes, atEnd && outputBytes.length < OUTPUT_CHUNK);
  if (events.length === 0 && length === 0) return null;
  return {
    events,
    output:
      length === 0
        ? null
        : { start: cursor.outputBytes, text: storableText(outputBytes.subarray(0, length).toString('utf8')) },
    cursor: {
      lines: events.at(-1)?.line ?? cursor.lines,
      eventBytes: cursor.eventBytes + bytes,
      outputBytes: cursor.outputBytes + length,
    },
  };
}

/** Waits for news in the run's directory: at once for the exit file, at most every FAST_MS for the rest. */
function wakeOnChange(dir: string): { next(signal: AbortSignal): Promise<void>; close(): void } {
  let changed = false;
  let ended = false;
  let last = 0;
  let wake: () => void = () => undefined;
  let watcher: FSWatcher | null = null;
  try {
    watcher = watchDirectory(dir, (_event, name) => {
      changed = true;
      ended ||= name === 'exit.json';
      wake();
    });
    watcher.on('error', () => undefined);
  } catch {
    // No kernel notifications (limit reached): the slow look finds the changes.
  }
  return {
    next: async (signal) => {
      const latest = Date.now() + SLOW_MS;
      for (;;) {
        const now = Date.now();
        const due = changed ? last + FAST_MS : latest;
        if (ended || now >= due) break;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, due - now);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener('abort', wake, { once: true });
        });
        signal.removeEventListener('abort', wake);
        if (signal.aborted) break;
      }
      changed = false;
      ended = false;
      last = Date.now();
    },
    close: () => watcher?.close(),
  };
}
