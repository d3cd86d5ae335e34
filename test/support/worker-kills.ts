import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import type { MusterStack } from './muster-stack.ts';

/** Requests that are kept back while others come to theirs share a kill; a worker gives a request up after 8 s. */
const GATHER_MS = 1_500;

/** When a worker is killed. */
export interface Moment {
  /** `held`: something keeps it as it is for some seconds, so that others may come to theirs; `now`: nothing does. */
  reached: Promise<'held' | 'now'>;
  /** Ends what keeps it, when the worker is dead. */
  letGo(): void;
}

export interface WorkerKills {
  /**
   * Kills the worker at a moment, with those that come at the same time, and waits for the next worker. It is stopped first: `whileStopped`
   * sees everything as it is without a worker.
   */
  killAt(moment: Moment, whileStopped: () => Promise<void>): Promise<void>;
}

interface Kill {
  hurry: PromiseWithResolvers<void>;
  whileStopped: (() => Promise<void>)[];
  done: Promise<void>;
}

/** Kills of a stack's worker, one after the other. */
export function openWorkerKills(stack: MusterStack): WorkerKills {
  let next: Kill | null = null;
  let last: Promise<void> = Promise.resolve();

  const carryOut = async (kill: Kill): Promise<void> => {
    await Promise.race([delay(GATHER_MS), kill.hurry.promise]);
    const pid = await stack.pidOf('worker');
    process.kill(pid, 'SIGSTOP');
    // Who comes from now on comes to the next one.
    next = null;
    try {
      await Promise.all(kill.whileStopped.map((work) => work()));
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    await eventually('there is another worker', async () => (await stack.pidOf('worker')) !== pid, 60_000);
  };

  return {
    async killAt(moment, whileStopped) {
      const kind = await moment.reached;
      if (next === null) {
        const kill: Kill = { hurry: Promise.withResolvers(), whileStopped: [], done: Promise.resolve() };
        kill.done = last.then(() => carryOut(kill));
        last = kill.done.catch(() => undefined);
        next = kill;
      }
      next.whileStopped.push(whileStopped);
      if (kind === 'now') next.hurry.resolve();
      await next.done.finally(moment.letGo);
    },
  };
}
