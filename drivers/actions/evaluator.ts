/** Templates filled in by a process of their own, which is killed from outside when it takes too long. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { Evaluator, Template } from '../../domain/propagation/ports.ts';
import { type RunningEvaluator, startEvaluator, startFailure } from './evaluator-start.ts';

export interface EvaluatorOptions {
  /** Interpreter with Jinja: that of Ansible. */
  python: string;
  /** The file `evaluate.py`. */
  script: string;
  /** Folder for a folder of its own, which stays empty. */
  tempDir: string;
  /** Time of the processor that a request may take (ms), and time until it is given up however little it took. */
  limits?: { cpuMs: number; wallMs: number };
  /** Time to begin, ms. */
  startMs?: number;
}

/**
 * A machine under load lets a process wait for seconds. So its own time counts; the other limit is for a process that waits for what never
 * comes.
 */
const LIMITS = { cpuMs: 1_000, wallMs: 30_000 };
const LOOK_MS = 100;
/** Time to begin, ms. */
const START_MS = 60_000;
/** Templates of one request. */
const BATCH = 20;
/** The kernel counts the time of processes in hundredths of a second, on every machine that Node runs on. */
const TICK_MS = 10;

/** Makes an evaluator. Its process begins with the first request, and a new one with the first after it was killed. */
export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { cpuMs, wallMs } = options.limits ?? LIMITS;
  let running: RunningEvaluator | null = null;
  let dir: string | null = null;
  let isStopped = false;
  let last: Promise<unknown> = Promise.resolve();

  const start = async (): Promise<RunningEvaluator> => {
    try {
      await mkdir(options.tempDir, { recursive: true, mode: 0o700 });
      dir ??= await mkdtemp(join(options.tempDir, 'evaluator-'));
    } catch (error) {
      throw startFailure(error, options.tempDir);
    }
    try {
      return await startEvaluator({ startMs: START_MS, ...options }, dir);
    } catch (error) {
      // Whatever cleans up old files may have taken the folder: the next start makes another one.
      await rm(dir, { recursive: true, force: true }).catch(() => undefined);
      dir = null;
      throw error;
    }
  };

  /** One request and its answer. Null: the process ended by itself, or somebody ended it. */
  const exchange = async (request: string): Promise<unknown> => {
    if (isStopped) throw musterError('evaluator_unavailable', 'the evaluator is stopped, and its worker with it');
    running ??= await start();
    const { child, lines } = running;
    const guard = guarded(child, { cpuMs, wallMs });
    child.stdin.write(`${request}\n`);
    const { done, value } = await lines.next();
    const isLate = guard.stop();
    if (!done) return readAnswer(value);
    running = null;
    child.kill('SIGKILL');
    if (isLate) throw musterError('validation_failed', `a template takes more than ${cpuMs} ms`);
    return null;
  };

  const answered = async (request: string): Promise<unknown> => {
    // A process that was ended from outside says nothing of the templates; a second one does.
    const answer = (await exchange(request)) ?? (await exchange(request));
    if (answer === null) throw musterError('validation_failed', 'a template ended its evaluator');
    return answer;
  };

  const renderBatch = async (templates: readonly Template[], variables: Readonly<Record<string, unknown>>) => {
    // One after the other, however many ask.
    const asked = last.then(() => answered(JSON.stringify({ templates, variables })));
    last = asked.catch(() => undefined);
    return textsOf(await asked, templates.length);
  };

  return {
    render: async (templates, variables) => {
      const texts: string[] = [];
      for (let at = 0; at < templates.length; at += BATCH) {
        texts.push(...(await renderBatch(templates.slice(at, at + BATCH), variables)));
      }
      return texts;
    },
    stop: async () => {
      isStopped = true;
      running?.child.kill('SIGKILL');
      running = null;
      if (dir !== null) await rm(dir, { recursive: true, force: true });
      dir = null;
    },
  };
}

function textsOf(answer: unknown, count: number): string[] {
  if (typeof answer === 'object' && answer !== null) {
    const { texts, error, name } = answer as { texts?: unknown; error?: unknown; name?: unknown };
    if (typeof error === 'string') throw musterError('validation_failed', `${name} cannot be rendered: ${error}`);
    if (Array.isArray(texts) && texts.length === count && texts.every((text) => typeof text === 'string')) return texts;
  }
  throw otherAnswer();
}

function readAnswer(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw otherAnswer();
  }
}

const otherAnswer = () => musterError('evaluator_failed', 'the evaluator gave another answer than texts');

/** Kills a process that takes too long. Returns its stop, which says whether it did. */
function guarded(child: ChildProcessWithoutNullStreams, { cpuMs, wallMs }: { cpuMs: number; wallMs: number }) {
  const began = Date.now();
  let isLate = false;
  let before: number | null = null;
  const look = async () => {
    const used = await cpuOf(child.pid);
    before ??= used;
    if (used - before < cpuMs && Date.now() - began < wallMs) return;
    isLate = true;
    child.kill('SIGKILL');
  };
  void look().catch(() => undefined);
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return isLate;
    },
  };
}

/** Time of the processor that a process has taken, ms. Its name, the second field, may hold anything. */
async function cpuOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
