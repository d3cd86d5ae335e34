/** What workflows ask of the runs of a machine. */
import type { EndOneRun } from '../../domain/runs/run-schema.ts';

export interface RunActivities {
  /** Ends every process of a run that is on record as a run of this machine and not over; says whether it did. */
  endOneRun(input: EndOneRun): Promise<{ ended: boolean }>;
}
