/** What a part said last before it ended. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 8_192;
const LINES = 3;
const LENGTH = 600;

/** Pino's number of a warning. */
const WARNING = 40;

/**
 * The last lines of a log that say something to people about what is wrong: no trace of calls, no line of Node about itself, nothing less
 * than a warning. Empty when there are none.
 */
export function lastWords(logFile: string): string {
  const telling = tail(logFile)
    .split('\n')
    .map((line) => (line.startsWith('{') ? warningIn(line, 0) : line))
    .filter((line) => line !== '' && !/^(\s*at |Node\.js v|[{}\s^]*$|\[cause\])/.test(line));
  return telling.slice(-LINES).join(' ').slice(-LENGTH).trim();
}

/**
 * The last warning of a structured log since then (milliseconds since 1970); empty when there is none. A line about a request that failed is no
 * warning here: it says that the part is not ready, not why.
 */
export function lastWarning(logFile: string, since: number): string {
  const lines = tail(logFile).split('\n');
  return (
    lines
      .map((line) => warningIn(line, since))
      .findLast((line) => line !== '')
      ?.slice(0, LENGTH) ?? ''
  );
}

/** A line of a structured log as its message and error; empty when it is no warning, or too old. */
function warningIn(line: string, since: number): string {
  try {
    const parsed = JSON.parse(line) as {
      level?: number;
      time?: number;
      msg?: string;
      err?: string | { message?: string };
      path?: string;
      status?: number;
    };
    const { level = 0, time = 0, msg = '', err, path, status } = parsed;
    if (level < WARNING || time < since || (path !== undefined && status !== undefined)) return '';
    const reason = typeof err === 'string' ? err : (err?.message ?? '');
    return [msg, reason].filter(Boolean).join(': ').replace(/\s+/g, ' ');
  } catch {
    return '';
  }
}

function tail(logFile: string): string {
  let file: number;
  try {
    file = openSync(logFile, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    closeSync(file);
  }
}
