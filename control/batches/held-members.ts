import { batchKey, pendingLayers } from '../../domain/batches/batch-key.ts';
import type { MemberNow } from '../../domain/batches/member-writes.ts';
import { revalidate } from '../../domain/batches/revalidate.ts';
import type { Component } from '../../domain/components/schema.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { leasedComponents } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import { membersNow } from './members-now.ts';

/** Of these components, those that a batch of `key` holds right before it is sent (cfs-flows 5.2), as they are now. */
export async function heldMembers(
  db: Db,
  key: string,
  components: Iterable<{ component: Component; bootedAt: Date | null }>,
  options: Options,
): Promise<MemberNow[]> {
  const all = [...components];
  const byId = new Map(all.map(({ component }) => [component.id, component]));
  const members = await membersNow(db, all, options, { desired: null, had: [], admittedAt: null, absent: [] });
  const leased = new Set(await leasedComponents(db, [...byId.keys()]));
  const facts = members.map((member) => ({
    id: member.id,
    enabled: byId.get(member.id)?.enabled ?? false,
    key: keyOf(member, byId.get(member.id)),
    leased: leased.has(member.id),
  }));
  const kept = new Set(revalidate(key, facts));
  return members.filter(({ id }) => kept.has(id));
}

function keyOf(member: MemberNow, component: Component | undefined): string | null {
  if (member.status !== 'pending' || component === undefined) return null;
  const layers = pendingLayers(member.layers.map(({ status }) => status));
  return batchKey(component.desired_config, layers, member.last?.status ?? '');
}
