import { type Cause, urgencyOf } from '../../domain/operator/cause.ts';
import type { ResourceName } from '../../domain/operator/dependent-change.ts';
import type { Gvk } from '../../domain/operator/names.ts';
import { writeDependentCause } from '../../store/operator/dependents.ts';
import type { NoteDependencies } from './note-objects.ts';
import { wantedDispatcher } from './wanted-workflows.ts';

/** Makes the owners of a dependent that changed or went run. `change`: its kind and name, and who has changed it, as the cause shows them. */
export async function noteDependent(
  { db, clock, operator, tell }: Omit<NoteDependencies, 'notices'>,
  kind: Gvk,
  change: Pick<Cause, 'object' | 'manager'>,
  owners: readonly ResourceName[],
): Promise<void> {
  const cause = { ...change, type: 'dependent' } as const;
  const isDue = await writeDependentCause(
    db,
    operator,
    kind,
    owners,
    { cause, urgency: urgencyOf('dependent') },
    clock(),
  );
  if (isDue) await tell([wantedDispatcher(operator)]);
}
