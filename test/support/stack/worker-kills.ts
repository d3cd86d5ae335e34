import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import type { MusterStack } from './muster-stack.ts';

/** A kill is for all that come to their moments until nobody has for so long, and begins so long after the first at most. */
const QUIET_MS = 3_000;
const GATHER_MS = 8_000;
const LOOK_MS = 50;

/** When a worker is killed. Something keeps it as it is, so that others may come to theirs. */
export interface Moment {
  reached: Promise<void>;
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
  joinedAt: number;
  whileStopped: (() => Promise<void>)[];
  done: Promise<void>;
}

/** Kills of a stack's worker, one after the other. */
export function openWorkerKills(stack: MusterStack): WorkerKills {
  let next: Kill | null = null;
  let last: Promise<void> = Promise.resolve();

  const carryOut = async (kill: Kill): Promise<void> => {
    for (const began = Date.now(); Date.now() < Math.min(kill.joinedAt + QUIET_MS, began + GATHER_MS); ) {
      await delay(LOOK_MS);
    }
    const pid = await stack.pidOf('worker');
    process.kill(pid, 'SIGSTOP');
    // Who comes from now on comes to the next one.
    next = null;
    try {
      await Promise.all(kill.whileStopped.map((work) => work()));
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    await eventually('there is another worker', async () => (await stack.pidOf('worker')) !== pid, 180_000);
  };

  return {
    async killAt(moment, whileStopped) {
      await moment.reached;
      if (next === null) {
        const kill: Kill = { joinedAt: 0, whileStopped: [], done: Promise.resolve() };
        kill.done = last.then(() => carryOut(kill));
        last = kill.done.catch(() => undefined);
        next = kill;
      }
      next.whileStopped.push(whileStopped);
      next.joinedAt = Date.now();
      await next.done.finally(moment.letGo);
    },
  };
}
