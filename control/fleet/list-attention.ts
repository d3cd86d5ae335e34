import { attentionItems } from '../../domain/fleet/attention.ts';
import { ATTENTION_MAX, type Attention } from '../../domain/fleet/attention-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { groupFailures, readTrouble } from '../../store/fleet/attention.ts';

/** Returns what needs a person now, the worst first. */
export async function listAttention({ db, clock }: { db: Db; clock(): Date }): Promise<Attention> {
  const now = clock();
  const [failures, others] = await Promise.all([groupFailures(db), readTrouble(db, now)]);
  const items = attentionItems({ failures, ...others });
  return {
    items: items.slice(0, ATTENTION_MAX),
    more: Math.max(0, items.length - ATTENTION_MAX),
    as_of: now.toISOString(),
  };
}
