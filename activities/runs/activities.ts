import { endRunHere } from '../../control/runs/end-run.ts';
import { EndOneRunSchema } from '../../domain/runs/run-schema.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { RunActivities } from './contract.ts';

/** Work on single runs of this machine. */
export function createRunActivities(deps: Parameters<typeof endRunHere>[0]): RunActivities {
  return parseInputs<RunActivities>(
    { endOneRun: EndOneRunSchema },
    { endOneRun: ({ runId }) => withHeartbeat(async () => ({ ended: await endRunHere(deps, runId) })) },
  );
}
