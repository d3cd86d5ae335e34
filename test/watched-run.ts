import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** What Jest says of a worker that did not end by itself: a file of tests has left a timer, a socket or a process open. */
const FORCED = 'A worker process has failed to exit gracefully';

/** What was written last may take so long to be read, ms. */
const LAST_WORDS_MS = 2_000;

/** Whether a line of Jest's output says that files of tests have left something open. */
export const saysLeftOpen = (line: string): boolean => stripVTControlCharacters(line).startsWith(FORCED);

export interface WatchedRun {
  status: number;
  leftOpen: boolean;
}

/** Runs a tool of Jest's kind; what it writes is passed on to the file descriptor `output`, and read on the way. */
export async function watchedRun(file: string, args: string[], cwd: string, output: number): Promise<WatchedRun> {
  const color = output === process.stderr.fd && process.stderr.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...color } });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
  let leftOpen = false;
  for (const stream of [child.stdout, child.stderr]) {
    // A line may come in two parts.
    let open = '';
    stream.on('data', (chunk: Buffer) => {
      passOn(chunk, output);
      const lines = `${open}${chunk.toString('latin1')}`.split('\n');
      leftOpen ||= lines.some(saysLeftOpen);
      open = lines.at(-1) ?? '';
    });
  }
  const status = await ended;
  // What a test has left working may hold the pipes for ever.
  await Promise.race([closed, delay(LAST_WORDS_MS, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return { status, leftOpen };
}

/** A pipe of this process is written by the process' own stream, which knows how to wait for its reader. */
function passOn(chunk: Buffer, output: number): void {
  if (output === process.stderr.fd) process.stderr.write(chunk);
  else for (let at = 0; at < chunk.length; ) at += writeSync(output, chunk, at);
}
