import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/text/message-of.ts';
import { type ComponentPlan, NoAnswer } from './component.ts';
import { openLog } from './log-file.ts';
import { identify } from './process-identity.ts';
import type { ComponentState } from './stack-state.ts';

const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 10_000;
/** A process that lived this long (ms) starts the back-off anew. */
const STABLE_AFTER_MS = 30_000;
/** Probes follow quickly until the first success, then seldom. */
const PROBE_STARTING_MS = 50;
const PROBE_HEALTHY_MS = 5_000;
const PROBE_UNHEALTHY_MS = 500;
const PROBE_TIMEOUT_MS = 5_000;

/** A process that tells itself that it lives is looked at so often, and is ill when it has said nothing for so long. */
const BEAT_LOOK_MS = 1_000;
const BEAT_LATE_MS = 5_000;
/** A process that has not moved for so long is replaced; one that has never answered yet gets so many times as long. */
const HUNG_AFTER_MS = 60_000;
const STARTING_FACTOR = 5;
/** Each signal gets so long before the next one. */
const REPLACE_GRACE_MS = 10_000;
/** The process has not said yet that it is ready. */
const NOT_READY = 'starting';

/** How a look at a process went: null or what is wrong, and whether the process has moved at all. */
interface Look {
  problem: string | null;
  moved: boolean;
}

async function look(ask: () => Promise<string | null>): Promise<Look> {
  const late = delay(PROBE_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new NoAnswer(`no answer within ${PROBE_TIMEOUT_MS / 1000} s`);
  });
  try {
    const problem = await Promise.race([ask(), late]);
    return { problem, moved: !/ECONNREFUSED/.test(problem ?? '') };
  } catch (error) {
    return { problem: messageOf(error), moved: !(error instanceof NoAnswer) };
  } finally {
    late.catch(() => undefined);
  }
}

/** The question to a process that tells itself how it is, each second. */
function heartbeatOf(child: ChildProcess): () => Promise<string | null> {
  let ready = false;
  let ill: string | null = null;
  let heard = performance.now();
  child.on('message', (message) => {
    heard = performance.now();
    if (message === 'ready') ready = true;
    else ill = (message as { ill?: string | null }).ill ?? null;
  });
  return async () => {
    const silent = performance.now() - heard;
    // Before it is ready it loads its program, which may take it longer: that is no silence.
    const isEarly = !ready && ill === null && silent < HUNG_AFTER_MS;
    if (silent > BEAT_LATE_MS) {
      throw new NoAnswer(isEarly ? NOT_READY : `it has said nothing for ${Math.round(silent / 1_000)} s`);
    }
    // It turns and does no work: for those who wait for it that is no better.
    if (ill !== null) throw new NoAnswer(ill);
    return ready ? null : NOT_READY;
  };
}

/** How long nothing has moved, as far as it was looked at: a supervisor that stood still itself has seen nothing. */
class Silence {
  private readonly limitMs: number;
  private silentMs = 0;
  private factor = 1;
  private last = performance.now();

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  note(moved: boolean, starting: boolean): void {
    const passed = Math.min(performance.now() - this.last, PROBE_TIMEOUT_MS + PROBE_HEALTHY_MS);
    this.last = performance.now();
    this.factor = starting ? STARTING_FACTOR : 1;
    this.silentMs = moved ? 0 : this.silentMs + passed;
  }

  isTooLong(): boolean {
    return this.silentMs >= this.limitMs * this.factor;
  }

  seconds(): number {
    return Math.round(this.silentMs / 1_000);
  }
}

/** Keeps one process running: starts it, watches its health, starts it again after a growing pause when it ends. */
export class SupervisedProcess {
  readonly plan: ComponentPlan;
  state: ComponentState;
  private readonly onChange: () => void;
  private child: ChildProcess | null = null;
  private ended: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private quick = false;
  private failuresInARow = 0;
  private readonly hungAfterMs: number;
  /** Why the process is being replaced. */
  private hung: string | null = null;

  /** @param hungAfterMs how long a process may stand still before it is replaced */
  constructor(plan: ComponentPlan, onChange: () => void, hungAfterMs = HUNG_AFTER_MS) {
    this.hungAfterMs = hungAfterMs;
    this.plan = plan;
    this.onChange = onChange;
    this.state = {
      state: 'waiting',
      reason: 'not started yet',
      process: null,
      address: plan.address,
      version: plan.version,
      restarts: 0,
      started_at: null,
      last_exit: null,
    };
  }

  /** Ends in a row without ever having been healthy since the first start. */
  get fruitlessStarts(): number {
    return this.failuresInARow;
  }

  start(): void {
    this.ended = this.keepRunning();
  }

  /** Stops for good; a second call in a hurry shortens the first. Answers when the process is gone. */
  async stop(quick = false): Promise<void> {
    if (quick && !this.quick) {
      this.quick = true;
      if (this.stopping.signal.aborted) this.child?.kill(this.plan.stop.forceSignal);
    }
    if (!this.stopping.signal.aborted) {
      this.stopping.abort();
      if (this.child !== null) {
        this.change({ state: 'stopping', reason: 'being stopped' });
        void this.endChild(this.child);
      }
    }
    await this.ended;
    this.change({ state: 'stopped', reason: null, process: null });
  }

  private change(part: Partial<ComponentState>): void {
    this.state = { ...this.state, ...part };
    this.onChange();
  }

  private async keepRunning(): Promise<void> {
    let backoff = FIRST_BACKOFF_MS;
    while (!this.stopping.signal.aborted) {
      const startedAt = Date.now();
      const end = await this.runOnce();
      if (this.stopping.signal.aborted) return;
      if (Date.now() - startedAt > STABLE_AFTER_MS) backoff = FIRST_BACKOFF_MS;
      this.failuresInARow += 1;
      const restarts = this.state.restarts + 1;
      this.change({
        state: 'restarting',
        reason: `${end}; next start in ${backoff / 1000} s`,
        process: null,
        last_exit: end,
        restarts,
      });
      await delay(backoff, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      backoff = Math.min(backoff * 2, LAST_BACKOFF_MS);
    }
  }

  /** One life of the process; answers how it ended. */
  private async runOnce(): Promise<string> {
    try {
      await this.plan.prepare?.();
    } catch (error) {
      return `could not be prepared: ${messageOf(error)}`;
    }
    let child: ChildProcess;
    try {
      child = this.spawn();
    } catch (error) {
      return `could not be started: ${messageOf(error)}`;
    }
    this.child = child;
    const over = new AbortController();
    const end = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `ended with status ${code}` : `was killed by ${signal}`),
      );
    });
    if (child.pid !== undefined) {
      const identity = await identify(child.pid);
      this.change({ state: 'starting', reason: 'starting', process: identity, started_at: new Date().toISOString() });
    }
    if (this.stopping.signal.aborted) void this.endChild(child);
    const watch = this.watchHealth(child, over.signal);
    const text = await end;
    over.abort();
    this.child = null;
    await watch;
    const why = this.hung;
    this.hung = null;
    return why === null ? text : `${text}: ${why}`;
  }

  private spawn(): ChildProcess {
    const { file, args, env, cwd, user, logFile, probe } = this.plan;
    const log = openLog(logFile);
    try {
      // A session of its own: Ctrl-C in the terminal reaches the supervisor alone, which stops all in order.
      const stdio = probe ? (['ignore', log, log] as const) : (['ignore', log, log, 'ipc'] as const);
      return spawn(file, args, { env, cwd, detached: true, stdio: [...stdio], ...user });
    } finally {
      closeSync(log);
    }
  }

  private async endChild(child: ChildProcess): Promise<void> {
    const { signal, graceMs, forceSignal } = this.plan.stop;
    child.kill(this.quick ? forceSignal : signal);
    const gone = this.ended.then(() => true);
    const late = delay(graceMs, false, { ref: false });
    if (!(await Promise.race([gone, late]))) child.kill(forceSignal);
    if (!(await Promise.race([gone, delay(graceMs, false, { ref: false })]))) child.kill('SIGKILL');
  }

  private async watchHealth(child: ChildProcess, over: AbortSignal): Promise<void> {
    const silence = new Silence(this.hungAfterMs);
    const ask = this.plan.probe ?? heartbeatOf(child);
    while (!over.aborted && !this.stopping.signal.aborted) {
      const { problem, moved } = await look(ask);
      if (over.aborted || this.stopping.signal.aborted) return;
      // What has never answered may still be starting; so much longer is it waited for.
      silence.note(moved, this.state.state === 'starting');
      if (silence.isTooLong()) {
        await this.replace(child, `it has not moved for ${silence.seconds()} s (${problem})`, over);
        return;
      }
      if (problem !== NOT_READY) this.report(problem);
      const pause =
        {
          healthy: this.plan.probe ? PROBE_HEALTHY_MS : BEAT_LOOK_MS,
          starting: PROBE_STARTING_MS,
        }[this.state.state as string] ?? PROBE_UNHEALTHY_MS;
      await delay(pause, undefined, { signal: over }).catch(() => undefined);
    }
  }

  /** Ends a process that hangs, so that another takes its place: one that is only stopped by a signal hears no other. */
  private async replace(child: ChildProcess, why: string, over: AbortSignal): Promise<void> {
    this.hung = why;
    this.change({ state: 'unhealthy', reason: `${why}; it is replaced` });
    for (const signal of [this.plan.stop.signal, this.plan.stop.forceSignal, 'SIGKILL'] as const) {
      if (over.aborted) return;
      child.kill(signal);
      await delay(REPLACE_GRACE_MS, undefined, { signal: over }).catch(() => undefined);
    }
  }

  private report(problem: string | null): void {
    if (problem === null) {
      this.failuresInARow = 0;
      if (this.state.state !== 'healthy') this.change({ state: 'healthy', reason: null });
    } else if (this.state.state === 'starting') {
      if (this.state.reason !== problem) this.change({ reason: problem });
    } else if (this.state.state !== 'unhealthy' || this.state.reason !== problem) {
      this.change({ state: 'unhealthy', reason: problem });
    }
  }
}
