import type { OperatorSite } from '../../control/operator/operator-site.ts';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import type { ObjectRef } from '../../domain/operator/ports.ts';
import type { Status } from '../../domain/operator/status.ts';

/** Tries of one write, each with the resource as it is then. A conflict never runs a playbook again. */
const TRIES = 5;

/** The status was changed by others at each try. */
export class StatusConflict extends Error {
  override name = 'StatusConflict';
}

/**
 * Writes a status that is made of the present one. `absent`: the resource with this uid is no more, or its kind has no status of its own.
 * Throws `StatusConflict`, for the step to be tried again.
 */
export async function writeStatus(
  { cluster }: Pick<OperatorSite, 'cluster'>,
  of: ObjectRef & { uid: string },
  change: (status: unknown) => Status,
): Promise<CustomResource | 'absent'> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const resource = await cluster.read(of);
    if (resource === null || resource.metadata.uid !== of.uid) return 'absent';
    const written = await cluster.writeStatus(of, resource, change(resource.status));
    if (written.answer === 'written') return written.resource;
    if (written.answer === 'absent') return 'absent';
  }
  throw new StatusConflict(`the status of ${of.kind} ${of.name} was changed ${TRIES} times while it was written`);
}
