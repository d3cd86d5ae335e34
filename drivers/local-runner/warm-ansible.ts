/**
 * Processes of this worker that have imported Ansible and start runs with it. Such a process can be asked by its worker alone, through its
 * standard input; it ends with the worker. Whatever goes wrong with it costs a cold start and nothing else.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { RunSpec } from '../../domain/runs/runner.ts';
import type { WarmView } from '../../domain/runs/warm-schema.ts';
import { startupOf } from '../../domain/runs/warm-start.ts';

type WarmState = WarmView['state'];

export interface WarmProcess {
  pid: number | null;
  /** `refused`: this Ansible cannot be kept; every run of it is started cold. */
  state: WarmState;
  /** Runs that it has started. */
  runs: number;
  /** Why it refuses. */
  why: string | null;
}

export interface WarmAnsible {
  /** Starts the run if a process is there for it and says so; false: it is to be started cold. Never throws. */
  start(directory: string, spec: Pick<RunSpec, 'argv' | 'env' | 'trace' | 'inventory'>): Promise<boolean>;
  processes(): WarmProcess[];
  close(): void;
}

/** How long (ms) a process may take to detach a launcher. */
const ANSWER_MS = 3_000;
/** The same when it says that it may have to read the inventory of a whole fleet before. */
const READ_MS = 60_000;
/** How long (ms) an Ansible is not tried again that cannot be kept, and one whose process went before it was ready. */
const REFUSED_MS = 600_000;
const GONE_MS = 30_000;
const INTERPRETER_MAX = 256;

/**
 * `program`: file of the program that keeps Ansible; `limit`: processes at most; `answerMs`: how long a process may take to detach a launcher,
 * 3 s by default; `onChange`: told when one begins, is ready or ends.
 */
export function createWarmAnsible(options: {
  program: string;
  limit: number;
  answerMs?: number;
  onChange?: (processes: WarmProcess[]) => void;
}): WarmAnsible {
  const held = new Map<string, Held>();
  const processes = () => [...held.values()].map(({ pid, state, runs, why }) => ({ pid, state, runs, why }));
  const changed = () => options.onChange?.(processes());
  const begin = (key: string, words: [string, string], startup: Record<string, string>) => {
    // One that is tried anew takes the place of its own.
    held.delete(key);
    if (held.size >= options.limit) {
      const [oldest] = [...held].sort(([, one], [, other]) => one.used - other.used);
      oldest?.[1].end();
      if (oldest !== undefined) held.delete(oldest[0]);
    }
    const made = new Held([words[0], options.program, words[1]], startup, () => {
      if (made.state === 'ready' && made.isGone && held.get(key) === made) held.delete(key);
      changed();
    });
    held.set(key, made);
    changed();
  };
  return {
    start: async (directory, { argv, env, trace = 'journal', inventory }) => {
      const [script] = argv;
      if (script === undefined || trace !== 'journal') return false;
      const interpreter = await interpreterOf(script);
      if (interpreter === null) return false;
      const startup = startupOf(env);
      const key = JSON.stringify([interpreter, script, startup]);
      const found = held.get(key);
      if (found === undefined || found.isOver) {
        begin(key, [interpreter, script], startup);
        return false;
      }
      return found.ask(directory, inventory, options.answerMs ?? ANSWER_MS);
    },
    processes,
    close: () => {
      for (const process of held.values()) process.end();
      held.clear();
    },
  };
}

/** The absolute path of the interpreter that the first line of a script names, without words for it; null where it is no such script. */
async function interpreterOf(script: string): Promise<string | null> {
  try {
    const file = await open(script, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(INTERPRETER_MAX), 0, INTERPRETER_MAX, 0);
      return /^#!(\/\S*python[\d.]*)\n/.exec(buffer.subarray(0, bytesRead).toString('utf8'))?.[1] ?? null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}

/** One process, from its start to its end. */
class Held {
  readonly #child: ChildProcess;
  readonly #tell: () => void;
  /** Orders without an answer, by number: with inventories of sessions they are answered in any order. */
  readonly #waiting = new Map<number, { answer(started: boolean): void; wait(ms: number): void }>();
  #orders = 0;
  #restUntil = Number.POSITIVE_INFINITY;
  isGone = false;
  state: WarmState = 'loading';
  why: string | null = null;
  runs = 0;
  used = performance.now();

  constructor([interpreter, ...words]: [string, ...string[]], env: Record<string, string>, tell: () => void) {
    this.#tell = tell;
    this.#child = spawn(interpreter, words, { detached: true, stdio: ['pipe', 'pipe', 'ignore'], cwd: '/', env });
    this.#child.once('error', () => this.#over());
    this.#child.once('exit', () => this.#over());
    // Written to one that is gone: its end is told by the event above.
    this.#child.stdin?.on('error', () => undefined);
    const { stdin, stdout } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#take(line));
    // A worker that has nothing else to do ends, and this process with it.
    this.#child.unref();
    for (const pipe of [stdin, stdout]) (pipe as Socket | null)?.unref();
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Whether another one may be tried in its place. */
  get isOver(): boolean {
    return performance.now() > this.#restUntil;
  }

  /** Starts a run; false when that did not come to be, or is not known: a run begins once, however often it is started. */
  async ask(directory: string, inventory: RunSpec['inventory'], answerMs: number): Promise<boolean> {
    if (this.state !== 'ready' || this.isGone) return false;
    this.used = performance.now();
    this.#orders += 1;
    const number = this.#orders;
    const ofSession = inventory === undefined ? {} : { inventory: inventory.folder, last: inventory.last };
    const started = await new Promise<boolean>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const wait = (ms: number) => {
        clearTimeout(timer);
        // It hangs, so no run is given to it any more.
        timer = setTimeout(() => this.end(), ms);
      };
      const answer = (given: boolean) => {
        clearTimeout(timer);
        resolve(given);
      };
      this.#waiting.set(number, { answer, wait });
      wait(answerMs);
      this.#child.stdin?.write(`${JSON.stringify({ run: directory, number, ...ofSession })}\n`);
    });
    if (started) this.runs += 1;
    return started;
  }

  end(): void {
    this.#child.kill('SIGKILL');
    this.#over();
  }

  #take(line: string): void {
    const answer = parse(line);
    if (answer === null) this.end();
    else if (answer.reading === true) this.#waiting.get(answer.number ?? 0)?.wait(READ_MS);
    else if (answer.started !== undefined) this.#answer(answer.number ?? 0, answer.started);
    else if (answer.ready === true) this.#become('ready', null);
    else this.#become('refused', answer.why ?? 'it does not say why');
  }

  #answer(number: number, started: boolean): void {
    this.#waiting.get(number)?.answer(started);
    this.#waiting.delete(number);
  }

  #become(state: WarmState, why: string | null): void {
    this.state = state;
    this.why = why;
    if (state === 'refused') this.#restUntil = performance.now() + REFUSED_MS;
    this.#tell();
  }

  #over(): void {
    this.isGone = true;
    if (this.state === 'loading') {
      this.state = 'refused';
      this.why = 'it ended before it was ready';
      this.#restUntil = performance.now() + GONE_MS;
    }
    for (const { answer } of this.#waiting.values()) answer(false);
    this.#waiting.clear();
    this.#tell();
  }
}

interface Answer {
  ready?: boolean;
  reading?: boolean;
  started?: boolean;
  number?: number;
  why?: string;
}

function parse(line: string): Answer | null {
  try {
    const answer: unknown = JSON.parse(line);
    return typeof answer === 'object' && answer !== null ? answer : null;
  } catch {
    return null;
  }
}
