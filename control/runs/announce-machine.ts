import type { Db } from '../../store/connection/database.ts';
import { noteRunMachine, type RunMachine } from '../../store/runs/run-machines.ts';

/** How often a machine says that it is there, ms. */
const ANNOUNCE_MS = 20_000;
/** A machine that has said nothing for so long, ms, is visited by a sweep only while it has runs. */
export const MACHINE_SEEN_MS = 60_000;
/** So long, ms, a machine without runs is known. */
export const MACHINE_KNOWN_MS = 30 * 24 * 3_600_000;

export interface AnnounceRunsDependencies {
  db: Db;
  clock(): Date;
  log: { warn(fields: object, message: string): void };
}

/** Says at once, and from then on every 20 s, that a machine with runs is there. Returns its stop. */
export function announceRunMachine({ db, clock, log }: AnnounceRunsDependencies, machine: RunMachine): () => void {
  let isFailing = false;
  const say = async () => {
    try {
      await noteRunMachine(db, machine, clock());
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error }, 'the word that this machine has runs could not be stored; it is said again');
      isFailing = true;
    }
  };
  void say();
  const timer = setInterval(() => void say(), ANNOUNCE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
