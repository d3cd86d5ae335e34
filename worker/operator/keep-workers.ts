/** The workers of an operator at Temporal: one for what any process may do, one for what is this machine's. */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { messageOf } from '../../domain/text/message-of.ts';
import { again } from '../again.ts';

type Log = { warn(fields: object, message: string): void };

export interface KeptWorkers {
  isRunning(): boolean;
  /** Takes no more work; what is under way gets the time of its worker. */
  shutdown(): void;
  /** Resolves when all of them have stopped. */
  done: Promise<unknown>;
}

/**
 * Starts a worker for each of these options. One that Temporal refuses for good, such as after the loss of its store with the namespace, is made
 * anew as soon as `ready` says that Temporal is there: runs and resources wait for no restart of the process.
 */
export async function keepWorkers(
  all: readonly WorkerOptions[],
  ready: () => Promise<unknown>,
  log: Log,
): Promise<KeptWorkers> {
  const workers: KeptWorkers[] = [];
  for (const options of all) {
    const make = () => again('Temporal', log, () => Worker.create(options));
    workers.push(keepWorker(await make(), async () => ready().then(make), log));
  }
  return {
    isRunning: () => workers.every((worker) => worker.isRunning()),
    shutdown: () => {
      for (const worker of workers) worker.shutdown();
    },
    done: Promise.all(workers.map(({ done }) => done)),
  };
}

/** What of a worker is used here. */
export type RunningWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

/** Runs a worker, and the next one where it fails. */
export function keepWorker(first: RunningWorker, next: () => Promise<RunningWorker>, log: Log): KeptWorkers {
  let worker = first;
  let isStopped = false;
  const shutdown = () => {
    isStopped = true;
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const work = async () => {
    for (;;) {
      try {
        const running = worker.run();
        // It was made while the process was to stop.
        if (isStopped) shutdown();
        return await running;
      } catch (error) {
        if (isStopped) throw error;
        log.warn({ err: messageOf(error) }, 'Temporal has refused a worker: another one follows');
        worker = await next();
      }
    }
  };
  return { isRunning: () => worker.getState() === 'RUNNING', shutdown, done: work() };
}
