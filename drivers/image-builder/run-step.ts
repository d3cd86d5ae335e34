import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorCode } from '../../domain/errors.ts';
import { musterError } from '../../domain/errors.ts';
import type { BuildLimits, BuildProgress } from '../../domain/images/image-builder.ts';
import { freeBytes } from './disk-usage.ts';
import type { JobFolder } from './job-folder.ts';
import { BUSY, endRoom, lastOf, type RoomPlan, startRoom } from './room.ts';

export interface BuildStep {
  plan: RoomPlan;
  limits: BuildLimits;
  /** What a failure of the program is called. */
  failure: ErrorCode;
  /** Bytes made so far. */
  measure: (signal: AbortSignal) => Promise<number>;
  /** Most that `measure` may answer. */
  maxBytes: number;
}

/** How often the disk is looked at, ms. */
const LOOK_MS = 250;
/** Share of the time that measuring may take: it waits ten times as long as it took. */
const MEASURING = 10;
const REPORT_MS = 1_000;
/** What unshare says when process 1 of the room was killed: it cannot die of that signal in turn. */
const KILLED = /unshare: sigprocmask unblock failed/;
/** A disk with less than this is full, bytes. */
const FULL = 1_048_576;
/** Characters kept of what a program says. */
const KEPT_WORDS = 10_000;
/** How tar, which ends well all the same, says that a file has lost a part of it. The labels of SELinux are the machine's matter. */
const LOST = /Cannot set (?:'(?!security\.selinux').*' extended attribute|POSIX ACLs)/;

/**
 * Lets a program work in a room to its end, within its limits. Whoever worked for the job before is ended first. On abort,
 * failure or a limit nothing of it runs any more when this rejects.
 */
export async function runStep(
  folder: JobFolder,
  step: BuildStep,
  signal: AbortSignal,
  progress: BuildProgress,
): Promise<void> {
  signal.throwIfAborted();
  await endRoom(folder);
  const tooLong = AbortSignal.timeout(step.limits.seconds * 1_000);
  const over = new AbortController();
  const child = await startRoom(folder, step.plan);
  const ended = once(child, 'close');
  const said = listen(child);
  const stop = AbortSignal.any([signal, tooLong, over.signal]);
  // The room's process 1 dies with the one that waits for it.
  const kill = () => child.kill('SIGKILL');
  if (stop.aborted) kill();
  stop.addEventListener('abort', kill);
  const watching = watch(folder, step, child, progress).catch((error) => over.abort(error));
  try {
    const [code] = await ended;
    await watching;
    signal.throwIfAborted();
    if (tooLong.aborted) throw musterError('image_wait_timeout', `it took longer than ${step.limits.seconds} s`);
    over.signal.throwIfAborted();
    if (code !== 0) throw await failureOf(folder, step.failure, code, lastOf(said.words()));
    const lost = said.lost();
    if (lost !== null) throw musterError(step.failure, `not all of a file can be kept here: ${lastOf(lost)}`);
  } finally {
    stop.removeEventListener('abort', kill);
    if (stop.aborted) await endRoom(folder);
  }
}

/** What a program has said so far. */
interface Said {
  /** The end of it. */
  words(): string;
  /** The first line that says that a part of a file was lost, however much was said after it. */
  lost(): string | null;
}

/** Takes what a program says off its hands. */
function listen(child: ChildProcess): Said {
  let text = '';
  let lost: string | null = null;
  for (const stream of [child.stdout, child.stderr]) {
    let begun = '';
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-KEPT_WORDS);
      const lines = `${begun}${more}`.split('\n');
      begun = (lines.pop() ?? '').slice(-KEPT_WORDS);
      lost ??= lines.find((line) => LOST.test(line)) ?? null;
    });
  }
  return { words: () => text, lost: () => lost };
}

/** Measures while the program works; throws when a limit is passed. */
async function watch(folder: JobFolder, step: BuildStep, child: ChildProcess, progress: BuildProgress): Promise<void> {
  const working = () => child.exitCode === null && child.signalCode === null;
  let made = 0;
  let freeThen = await freeBytes(folder.path);
  let measuredAt = 0;
  let took = 0;
  while (working()) {
    await delay(LOOK_MS);
    const free = await freeBytes(folder.path);
    if (free < step.limits.keepFree) {
      throw musterError('image_disk_full', `only ${free} bytes are free on the disk of ${folder.path}`);
    }
    // What others take from the disk only makes us look earlier.
    const suspicious = made + Math.max(0, freeThen - free) > step.maxBytes;
    const passed = Date.now() - measuredAt;
    if (passed < (suspicious ? took : Math.max(REPORT_MS, took * MEASURING))) continue;
    const began = Date.now();
    made = await step.measure(AbortSignal.timeout(step.limits.seconds * 1_000));
    freeThen = free;
    measuredAt = Date.now();
    took = measuredAt - began;
    progress(made);
    if (made > step.maxBytes) throw musterError('image_too_large', tooLarge(made, step.maxBytes));
  }
}

/** The sentence of a limit that was passed. */
export function tooLarge(bytes: number, maxBytes: number): string {
  return `the root file system takes ${bytes} bytes on disk, ${maxBytes} are allowed`;
}

async function failureOf(folder: JobFolder, failure: ErrorCode, code: number | null, words: string): Promise<Error> {
  if (code === BUSY && words === '')
    return musterError('image_environment_failed', 'something works for this job already');
  // Not every program says why it could not write.
  const isFull =
    /No space left on device|Disk quota exceeded|out of space/i.test(words) || (await freeBytes(folder.path)) < FULL;
  if (isFull) return musterError('image_disk_full', `the disk of ${folder.path} is full: ${words}`);
  if (code === null || KILLED.test(words)) {
    return musterError(
      'image_step_killed',
      `${folder.jobId}: the program was killed, by lack of memory or by somebody`,
    );
  }
  return musterError(failure, words === '' ? `the program ended with ${code}` : words);
}
