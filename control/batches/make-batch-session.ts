import { commonTags } from '../../domain/batches/common-tags.ts';
import type { Component } from '../../domain/components/schema.ts';
import { describeHolders } from '../../domain/sessions/lease-wait.ts';
import type { BatchRow } from '../../store/batches/batches.ts';
import type { Db } from '../../store/connection/database.ts';
import { type LeaseHolder, takeLeases } from '../components/take-leases.ts';
import { createSession } from '../sessions/create-session.ts';
import { BATCHER } from './batcher-ports.ts';

/** Another session took a component at the same moment: the transaction is to be undone. */
export class LeasesTaken extends Error {
  constructor(holders: readonly LeaseHolder[]) {
    super(`other sessions have some of its components: ${describeHolders(holders)}`);
    this.name = 'LeasesTaken';
  }
}

export interface NewBatchSession {
  batch: Pick<BatchRow, 'configuration' | 'layers'>;
  name: string;
  components: readonly Component[];
  clock(): Date;
}

/** Nobody is told before the transaction is committed. */
const SILENT = { kick: () => undefined };

/**
 * Inserts the session of these components with their leases, in the caller's transaction; answers its id. Throws what
 * `createSession` refuses, and `LeasesTaken`.
 */
export async function makeBatchSession(trx: Db, { batch, name, components, clock }: NewBatchSession): Promise<string> {
  const componentIds = components.map(({ id }) => id);
  const tags = commonTags(components.map((component) => component.tags));
  const { session } = await createSession(
    { db: trx, dispatcher: SILENT, clock },
    { actor: BATCHER },
    {
      name,
      configuration_name: batch.configuration,
      configuration_limit: batch.layers,
      ansible_limit: componentIds.join(','),
      target: { definition: 'dynamic' },
      ...(tags === undefined ? {} : { tags }),
    },
    { debugNames: false, limitOfHosts: true },
  );
  const leases = await takeLeases(trx, { sessionId: session.id, componentIds, now: clock() });
  if (!leases.taken) throw new LeasesTaken(leases.holders);
  return session.id;
}
