/** What this process writes is out, or said not to be, before it ends: Node alone promises that for no pipe and no file. */
import { fstatSync, writeSync } from 'node:fs';
import type { Sink } from './context.ts';
import { CliFailure, EXIT } from './failure.ts';
import type { Color } from './globals.ts';

/** A sink of this process, and the way to wait for what was written to it. */
export interface ProcessSink extends Sink {
  /** Answers when all that was written is out, or its reader is gone. */
  flushed(): Promise<void>;
}

/**
 * Sink over stdout or stderr of this process. What goes to a file is written at once and whole; one that takes no more, as on a
 * full disk, is `onFileError`'s, which may throw. A pipe is written to as fast as it is read, and `flushed` waits for the rest.
 * A terminal of the type `dumb` takes text alone. `NO_COLOR` with any text in it means text without colours, unless `color` says otherwise.
 */
export function processSink(
  stream: NodeJS.WriteStream & { fd: number },
  { TERM, NO_COLOR }: { TERM?: string | undefined; NO_COLOR?: string | undefined },
  color: Color,
  onFileError: (error: NodeJS.ErrnoException) => void,
): ProcessSink {
  const toFile = !stream.isTTY && isFile(stream.fd);
  return {
    write: (text) => {
      if (!toFile) {
        stream.write(text);
        return;
      }
      try {
        writeWhole(stream.fd, text);
      } catch (error) {
        onFileError(error as NodeJS.ErrnoException);
      }
    },
    terminal: stream.isTTY === true && TERM !== 'dumb',
    plain: color === 'never' || (NO_COLOR !== undefined && NO_COLOR !== ''),
    coloured: color === 'always',
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    onResize: (changed) => {
      stream.on('resize', changed);
      return () => stream.off('resize', changed);
    },
    // Written after all that waits, and called back also when nobody reads any more.
    flushed: () => (toFile ? Promise.resolve() : new Promise((resolve) => stream.write('', () => resolve()))),
  };
}

/** Of data that did not get to stdout, with the system's reason. */
export function outputNotWritten(error: NodeJS.ErrnoException): CliFailure {
  return new CliFailure('output_not_written', error.message.replace(/, write$/, ''), EXIT.failed);
}

/** Devices such as `/dev/full` are written to like files. */
function isFile(fd: number): boolean {
  const there = fstatSync(fd);
  return there.isFile() || there.isCharacterDevice() || there.isBlockDevice();
}

/** A nearly full disk takes a part first, and says only at the next part that it is full. */
function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
