/** Whose an object is that is about to be applied. */
import { type Finding, formerHolder, type LiveMetadata } from '../../domain/deployments/finding.ts';
import { labelValue } from '../../domain/deployments/naming.ts';
import type { Db } from '../../store/connection/database.ts';
import type { GroupResource, PhaseGroup } from '../../store/deployments/context-resources.ts';
import { isAdoptedBy } from '../../store/deployments/object-owners.ts';

export interface Owner {
  finding: Finding;
  formerOwner: string | null;
}

/**
 * Returns whose the object was before the apply. A repeat that sees its own object keeps what was found first; an object that was made or removed
 * since then is judged anew. What another owner has adopted stays adopted: Muster never deletes it.
 */
export async function ownerOf(
  db: Db,
  group: PhaseGroup,
  { resource, within }: { resource: GroupResource; within: string | null },
  live: LiveMetadata | null,
  { finding, formerOwner }: { finding: Finding; formerOwner?: string },
): Promise<Owner> {
  if (resource.attempted && live?.label === labelValue(group.context, group.app)) {
    return { finding: resource.finding ?? finding, formerOwner: resource.former_owner };
  }
  const holder = formerHolder(live, group);
  const isAdopted = holder !== null && (await isAdoptedBy(db, { ...group, ...holder }, resource, within));
  return { finding: isAdopted ? 'adopted' : finding, formerOwner: formerOwner ?? null };
}
