/** Simulations run in a thread of their own, one after the other, so that other requests are answered meanwhile. */
import { Worker } from 'node:worker_threads';
import { MusterError, musterError } from '../../../domain/errors.ts';
import { createTurns } from '../../server/admission/turns.ts';
import type { SimulationAnswer } from './simulation-thread.ts';

/** Longest time of a simulation, ms. */
const MOST_MS = 30_000;
/** Memory of the thread, MiB: a hundred thousand events take about half of it. */
const MOST_HEAP = 768;
/** A thread that has nothing to do for so long ends, ms. */
const IDLE_MS = 60_000;

export interface Simulations {
  /**
   * Simulates the model of a body. Returns the answer as JSON.
   * Throws `body_not_json`, `graph_too_large`, and what `simulate` throws.
   */
  simulate(body: Uint8Array): Promise<Buffer>;
  close(): Promise<void>;
}

/** Returns what simulates; its thread is started when it is wanted, and `ended` is told when a thread has ended. */
export function openSimulations({
  mostMs = MOST_MS,
  idleMs = IDLE_MS,
  mostHeap = MOST_HEAP,
  ended = () => {},
} = {}): Simulations {
  const takeTurn = createTurns(1);
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  const end = async () => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  };
  const started = () => {
    clearTimeout(idle);
    if (thread !== undefined) return thread;
    const made = new Worker(new URL('./simulation-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: mostHeap },
      execArgv: [],
      env: {},
    });
    // The thread may also fail when no request waits for it any more.
    made
      .on('error', () => undefined)
      .on('exit', () => {
        if (thread === made) thread = undefined;
        ended();
      });
    thread = made;
    return made;
  };
  const work = async (body: Uint8Array): Promise<Buffer> => {
    const worker = started();
    try {
      const answer = await answerOf(worker, body, { mostMs, mostHeap });
      if ('refused' in answer) {
        const { code, detail, field, errors } = answer.refused;
        throw new MusterError(code, detail, field, errors);
      }
      return Buffer.from(answer.json.buffer, answer.json.byteOffset, answer.json.byteLength);
    } catch (error) {
      // A thread that still works, or is gone, is of no use to the next request.
      if (!(error instanceof MusterError) || error.code === 'graph_too_large') await end();
      throw error;
    } finally {
      thread?.unref();
      idle = setTimeout(() => void end(), idleMs).unref();
    }
  };
  return { simulate: (body) => takeTurn(() => work(body)), close: end };
}

function answerOf(
  worker: Worker,
  body: Uint8Array,
  most: { mostMs: number; mostHeap: number },
): Promise<SimulationAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(late);
      worker.off('message', take).off('error', fail).off('exit', gone);
      act();
    };
    const take = (answer: SimulationAnswer) => settle(() => resolve(answer));
    const fail = (error: NodeJS.ErrnoException) =>
      settle(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(`${most.mostHeap} MiB`) : error));
    const gone = () => settle(() => reject(tooLarge('the time until this server stopped')));
    const late = setTimeout(() => settle(() => reject(tooLarge(`${most.mostMs / 1_000} s`))), most.mostMs);
    worker.ref();
    worker.on('message', take).on('error', fail).on('exit', gone);
    worker.postMessage(body);
  });
}

function tooLarge(bound: string): MusterError {
  return musterError(
    'graph_too_large',
    `The plan takes more than ${bound}: \`./muster plan simulate FILE\` simulates it without the API`,
  );
}
