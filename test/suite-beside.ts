import { closeSync, mkdtempSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Counts, Suite, SuiteOptions } from './suites.ts';

const LOOK_MS = 500;
const CHUNK_BYTES = 65_536;

/** A suite that runs while others do. What its tools write is kept until somebody wants to see it. */
export interface SuiteBeside {
  suite: Suite;
  /** Milliseconds of Date.now(). */
  startedAt: number;
  hasEnded(): boolean;
  /** Shows what its tools wrote, and go on to write, on stderr; answers at its end what was counted. */
  show(): Promise<Counts>;
  /** Waits for its end and shows nothing. */
  end(): Promise<void>;
}

/** Starts a suite and returns at once. */
export function runBeside(suite: Suite, options: Omit<SuiteOptions, 'output'>): SuiteBeside {
  const file = join(mkdtempSync(join(options.workDir, 'beside-')), 'output.txt');
  const output = openSync(file, 'w');
  const startedAt = Date.now();
  let ended = false;
  const running = suite.run({ ...options, output }).finally(() => {
    ended = true;
    closeSync(output);
  });
  // Whoever shows it or waits for its end gets the error; until then it is nobody's.
  running.catch(() => {});
  return {
    suite,
    startedAt,
    hasEnded: () => ended,
    show: async () => {
      const input = openSync(file, 'r');
      try {
        for (let last = false; !last; ) {
          last = ended;
          copy(input);
          if (!last) await Promise.race([running, delay(LOOK_MS)]);
        }
        return await running;
      } finally {
        closeSync(input);
      }
    },
    end: async () => {
      await running.catch(() => {});
    },
  };
}

/** Writes to stderr what a file has from where it was read last. */
function copy(input: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let length = readSync(input, chunk); length > 0; length = readSync(input, chunk)) {
    process.stderr.write(Buffer.from(chunk.subarray(0, length)));
  }
}
