/** What the functions of this lane work with. */
import type { Db } from '../../store/connection/database.ts';

export interface ModelDependencies {
  db: Db;
  clock(): Date;
  /** Who asks. */
  actor: string | null;
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
