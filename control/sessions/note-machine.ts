import { CLUSTER_HOST } from '../../domain/engine/task-queues.ts';
import type { Db } from '../../store/connection/database.ts';
import { noteHostAway } from '../../store/sessions/progress.ts';

/** Says in the records of a machine's sessions that they wait for it: nobody there answers. Their runs may go on. */
export async function noteMachineAway(db: Db, host: string): Promise<void> {
  const message =
    host === CLUSTER_HOST
      ? 'waiting for a worker with a cluster: none answers; its Job may go on there'
      : `waiting for the machine that runs it: no worker with data directory ${host} answers; the playbook may go on there`;
  await noteHostAway(db, host, message);
}
