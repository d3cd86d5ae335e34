import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { DriftCheck, DriftCheckAnswer } from '../../domain/schedules/drift-check-schema.ts';
import { findConfiguration } from '../../store/configurations/configurations.ts';
import { type CheckDriftDependencies, checkDrift } from './check-drift.ts';

/**
 * Checks the components that somebody names, by a filter or by what they desire. Throws `bad_request` for both or neither,
 * `configuration_not_found`, `bad_tags`.
 */
export async function requestDriftCheck(
  deps: CheckDriftDependencies,
  by: Acting,
  { filter, configuration, reconfigure = false }: DriftCheck,
): Promise<DriftCheckAnswer> {
  if ((filter === undefined) === (configuration === undefined)) {
    throw musterError('bad_request', 'Give either filter or configuration; an empty filter means all components');
  }
  if (configuration !== undefined && (await findConfiguration(deps.db, configuration)) === undefined) {
    throw musterError('configuration_not_found', `Configuration ${configuration} could not be found`, 'configuration');
  }
  const { session_ids: _, ...answer } = await checkDrift(deps, by, {
    filter: filter ?? { config_name: configuration },
    reconfigure,
    runId: by.operation ?? randomUUID(),
  });
  return answer;
}
