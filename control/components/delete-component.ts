import { deleteComponent as deleteRecord } from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { componentNotFound } from './read-components.ts';

/** Deletes a component, or throws `component_not_found`. */
export async function deleteComponent(db: Db, id: string): Promise<void> {
  if (!(await deleteRecord(db, id))) throw componentNotFound(id);
}
