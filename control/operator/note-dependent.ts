import { urgencyOf } from '../../domain/operator/cause.ts';
import type { ResourceName } from '../../domain/operator/dependent-change.ts';
import type { Gvk } from '../../domain/operator/names.ts';
import { writeDependentCause } from '../../store/operator/dependents.ts';
import type { NoteDependencies } from './note-objects.ts';
import { wantedDispatcher } from './wanted-workflows.ts';

/** Makes the owners of a dependent that changed or went run. `object`: its kind and name, as the cause shows it. */
export async function noteDependent(
  { db, clock, operator, tell }: NoteDependencies,
  kind: Gvk,
  object: string,
  owners: readonly ResourceName[],
): Promise<void> {
  const cause = { type: 'dependent', object } as const;
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
