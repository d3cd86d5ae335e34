/** What a part said last before it ended. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 8_192;
const LINES = 3;
const LENGTH = 600;

/** The last lines of a log that say something to people: no trace of calls, no line of Node about itself. Empty when there are none. */
export function lastWords(logFile: string): string {
  const lines = tail(logFile).split('\n').map(sentence);
  const telling = lines.filter((line) => line !== '' && !/^(\s*at |Node\.js v|[{}\s^]*$|\[cause\])/.test(line));
  return telling.slice(-LINES).join(' ').slice(-LENGTH).trim();
}

/** A line of a structured log is told by its message and error; any other as it is. */
function sentence(line: string): string {
  if (!line.startsWith('{')) return line;
  try {
    const { msg = '', err } = JSON.parse(line) as { msg?: string; err?: string | { message?: string } };
    const reason = typeof err === 'string' ? err : (err?.message ?? '');
    return [msg, reason].filter(Boolean).join(': ');
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
