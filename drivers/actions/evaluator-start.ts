/** The start of the process that fills in templates, and why it did not begin: for good, or for a lack that passes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';

export interface EvaluatorProgram {
  /** Interpreter with Jinja: that of Ansible. */
  python: string;
  /** The file `evaluate.py`. */
  script: string;
  /** Time to begin, ms. */
  startMs: number;
}

export interface RunningEvaluator {
  child: ChildProcessWithoutNullStreams;
  lines: AsyncIterator<string>;
}

/** What the system answers while the machine has too little of something. */
const PASSING_CODES: readonly string[] = [
  ...['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'ETXTBSY'],
];
/** The same in the words of Python and of the loader; the process has no locale. */
const PASSING_TEXT =
  /MemoryError|Cannot allocate memory|cannot allocate|Resource temporarily unavailable|Too many open files|No space left|Disk quota exceeded|Input\/output error|failed to map segment|start new thread|Text file busy/i;
/** Signals from outside: of the kernel that needs memory, or of a machine that goes down. */
const PASSING_SIGNALS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];
/** So much is kept of what the process says of its end, characters. */
const MOST_SAID = 4_096;
const LONGEST_LINE = 300;
/** Time between the end of its output and its own, ms. */
const GOING_MS = 10_000;
/** Time in which what it has said last arrives, ms. */
const LAST_WORDS_MS = 1_000;

/**
 * Starts the process in its folder, and waits until it says that it is ready.
 * Throws `evaluator_unavailable` for a lack of the machine that passes, and `evaluator_failed` for everything else.
 */
export async function startEvaluator(
  { python, script, startMs }: EvaluatorProgram,
  cwd: string,
): Promise<RunningEvaluator> {
  const child = await spawned(python, script, cwd);
  let said = '';
  // How it ends is seen by the end of its output.
  child.stdin.on('error', () => undefined);
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    said = (said + piece).slice(-MOST_SAID);
  });
  const reader = createInterface({ input: child.stdout });
  const lines = reader[Symbol.asyncIterator]();
  const over = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_code, signal) => resolve(signal));
    // Whatever the process has left may hold its output for ever.
    child.on('exit', (_code, signal) => {
      const end = () => {
        reader.close();
        resolve(signal);
      };
      setTimeout(end, LAST_WORDS_MS);
    });
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
    reader.close();
  }, startMs);
  const { done } = await lines.next();
  clearTimeout(timer);
  if (!done) return { child, lines };
  // Its output ends before it does. One that stays is ended, and that is no lack of the machine.
  let stays = false;
  const patience = setTimeout(() => {
    stays = true;
    child.kill('SIGKILL');
  }, GOING_MS);
  const signal = await over;
  clearTimeout(patience);
  if (isLate) throw lack(`it was not ready within ${startMs / 1_000} s`);
  const last = said.trim().split('\n').at(-1)?.slice(0, LONGEST_LINE) ?? '';
  if (PASSING_TEXT.test(said) || (signal !== null && !stays && PASSING_SIGNALS.includes(signal))) {
    throw lack(last || `signal ${signal} ended it`);
  }
  throw broken(`${python} ${script}: ${last || (signal === null ? 'it ended at once' : `signal ${signal} ended it`)}`);
}

/** Throws what `startEvaluator` does, where there is no process at all. */
async function spawned(python: string, script: string, cwd: string): Promise<ChildProcessWithoutNullStreams> {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(python, ['-I', script], { cwd, env: {}, stdio: 'pipe' });
  } catch (error) {
    throw startFailure(error, python);
  }
  // Without a process the pipes may be missing as well.
  if (child.pid === undefined) throw startFailure((await once(child, 'error'))[0], python);
  child.on('error', () => undefined);
  return child;
}

/** Returns what a failure of the system means for an evaluator that is to be started. `subject`: the file that is at fault. */
export function startFailure(error: unknown, subject: string): MusterError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null;
  const detail =
    code === null || messageOf(error).includes(subject) ? messageOf(error) : `${subject}: ${messageOf(error)}`;
  return code !== null && PASSING_CODES.includes(code) ? lack(detail) : broken(detail);
}

function lack(detail: string): MusterError {
  return musterError(
    'evaluator_unavailable',
    `templates cannot be filled in now, because the machine of the worker has too little memory, processes, files or room: ${detail}`,
  );
}

function broken(detail: string): MusterError {
  return musterError(
    'evaluator_failed',
    `templates cannot be filled in, because the evaluator does not begin; mend the Python of the worker, with Jinja in it, then retry the plan: ${detail}`,
  );
}
