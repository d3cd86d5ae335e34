import type { Kysely } from 'kysely';
import { musterError } from '../../domain/errors.ts';
import { deleteUndesiredConfiguration } from '../../store/configurations.ts';
import type { Database } from '../../store/tables.ts';
import { getConfiguration } from './read-configuration.ts';

/** Deletes a configuration unless a component desires it; check and delete are one (cfs-api 11; 15, 14). */
export async function deleteConfiguration(db: Kysely<Database>, name: string): Promise<void> {
  if (await deleteUndesiredConfiguration(db, name)) return;
  await getConfiguration(db, name);
  const detail = `Configuration ${name} is referenced by the desired state of some components`;
  throw musterError('configuration_in_use', detail);
}
