import type { MemberNow, SessionLayer } from '../../domain/batches/member-writes.ts';
import { outcomeOf } from '../../domain/batches/rollout-outcome.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { openMembers, writeOutcomes } from '../../store/batches/rollout-members.ts';
import type { SentBatch } from '../../store/batches/sent-batches.ts';
import { lockComponents } from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { membersNow } from './members-now.ts';

/** Tells the rollout of a batch that ends what became of its components; the batch's own writes into them are done. */
export async function leaveRollout(
  trx: Db,
  batch: Pick<SentBatch, 'id' | 'sessionName' | 'desired' | 'session'>,
  had: readonly SessionLayer[],
  options: Options,
): Promise<void> {
  const ids = await openMembers(trx, batch.id);
  if (ids.length === 0) return;
  const components = (await lockComponents(trx, ids)).values();
  const members = await membersNow(trx, components, options, {
    desired: batch.desired,
    had,
    admittedAt: batch.session?.admittedAt ?? null,
    absent: [],
  });
  await writeOutcomes(trx, batch.id, {
    done: idsOf(members, batch.sessionName, 'done'),
    failed: idsOf(members, batch.sessionName, 'failed'),
  });
}

function idsOf(members: readonly MemberNow[], session: string, outcome: 'done' | 'failed'): string[] {
  return members.filter((member) => outcomeOf(member, session) === outcome).map(({ id }) => id);
}
