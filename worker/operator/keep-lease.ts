import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/text/message-of.ts';

/** A process says so often (ms) that it is there. */
const SIGN_MS = 5_000;
/** A stop waits so long (ms) for a sign that is under way. */
const LAST_MS = 1_000;
/** After a sign that was not taken the next one follows so soon (ms): what is away for less than the lease costs no run. */
const AGAIN_MS = 1_000;
/** A process whose sign was not taken for so long (ms) may no longer act: another one may. */
const LEASE_MS = 15_000;

export interface KeepLease {
  /** Says that this process is there. Throws where nobody hears it. */
  sign(): Promise<void>;
  /** Ends what this process does in the name of the operator. */
  lost(): Promise<void>;
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Milliseconds that only grow. */
  now?(): number;
  signMs?: number;
  leaseMs?: number;
}

/** Says now and then that this process is there; where that is not heard for too long, it ends what it does, once. Returns how to stop. */
export function keepLease({
  sign,
  lost,
  log,
  now = () => performance.now(),
  signMs = SIGN_MS,
  leaseMs = LEASE_MS,
}: KeepLease): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  let heard = now();
  let isLost = false;
  let signing = false;
  let failed = false;
  let saying: Promise<void> = Promise.resolve();
  const say = async () => {
    signing = true;
    const began = now();
    try {
      await sign();
      heard = began;
      failed = false;
      if (isLost) log.info({}, 'this process is heard again');
      isLost = false;
    } catch (error) {
      failed = true;
      log.warn({ err: messageOf(error) }, 'the word that this process is there was not taken');
    } finally {
      signing = false;
    }
  };
  const pause = (ms: number) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const keep = async () => {
    while (!signal.aborted) {
      // Looked at before a new sign: a process that stood still for too long may not go on as if nothing had been.
      if (!isLost && now() - heard >= leaseMs) {
        isLost = true;
        log.warn({}, 'this process was not heard for too long: its runs end');
        await lost().catch((error: unknown) => log.warn({ err: messageOf(error) }, 'not all of it could be ended'));
      }
      // A sign that hangs must not keep the lease from ending.
      if (!signing) saying = say();
      const next = pause(signMs);
      await Promise.race([next, saying.then(() => (failed ? pause(Math.min(signMs, AGAIN_MS)) : next))]);
    }
  };
  const keeping = keep();
  return async () => {
    stopped.abort();
    await keeping;
    // A sign that is under way would come after the word that this process is gone.
    await Promise.race([saying, delay(LAST_MS, undefined, { ref: false })]);
  };
}
