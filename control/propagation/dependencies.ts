/** What the functions of this lane work with. */
import type { EventPolicy } from '../../domain/propagation/default-events.ts';
import type { Db } from '../../store/connection/database.ts';

export interface ModelDependencies {
  db: Db;
  clock(): Date;
  /** Who asks. */
  actor: string | null;
}

/** What writes connections works with. */
export interface ConnectDependencies extends ModelDependencies {
  /** Which events a connection makes that does not say so itself; default: `full`. */
  eventPolicy?: EventPolicy;
}

/** One write of the model: its transaction, its time, who asks. */
export interface ModelWrite {
  trx: Db;
  now: Date;
  actor: string | null;
}

/** What the steps of a plan work with; nobody asks for them. */
export interface StepDependencies {
  db: Db;
  clock(): Date;
}
