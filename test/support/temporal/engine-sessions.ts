/** Sessions in the database as the API leaves them for the engine. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { SnapshotLayer } from '../../../domain/sessions/schema.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findSessionById, insertSession, type NewSession, type SessionRow } from '../../../store/sessions/sessions.ts';

export const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678';

/** Layer `index` of a session; its repository is one of no importance. */
export const snapshotLayer = (index: number, given: Partial<SnapshotLayer> = {}): SnapshotLayer => ({
  index,
  name: null,
  url: 'https://git.test/plays.git',
  source: null,
  commit: COMMIT,
  playbook: 'site.yml',
  require_dkms: false,
  ...given,
});

/** Makes a queued session with its stream and its start message; the name is one of its own. */
export async function makeSession(db: Db, given: Partial<NewSession> = {}): Promise<SessionRow> {
  const row = await insertSession(db, {
    id: randomUUID(),
    name: `s-${randomUUID().slice(0, 8)}`,
    configurationName: 'web',
    configurationLimit: '',
    ansibleConfig: 'cfs-default-ansible-cfg',
    ansibleLimit: '',
    ansibleVerbosity: 0,
    ansiblePassthrough: '',
    target: { definition: 'dynamic', groups: null, image_map: null },
    tags: {},
    debugOnFailure: false,
    snapshot: {
      layers: [snapshotLayer(0)],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'cfs-default-ansible-cfg',
    },
    muster: null,
    retryOf: null,
    actor: null,
    now: new Date(),
    ...given,
  });
  if (row === null) throw new Error('the name is taken');
  return row;
}

/** The session as it stands. */
export async function sessionNow(db: Db, id: string): Promise<SessionRow> {
  const row = await findSessionById(db, id);
  if (row === null) throw new Error(`no session ${id}`);
  return row;
}

/** A Temporal client that only notes which workflows were signalled. */
export function signalClient(): { client: Client; signalled: string[] } {
  const signalled: string[] = [];
  const getHandle = (workflowId: string) => ({
    signal: async () => {
      signalled.push(workflowId);
    },
  });
  return { client: { workflow: { getHandle } } as unknown as Client, signalled };
}
