import { musterError } from '../errors.ts';
import type { Target, TargetBody } from './schema.ts';

/** A UUID of any version, hyphens optional. */
function isImageId(text: string): boolean {
  return /^[0-9a-f]{32}$/i.test(text.replaceAll('-', ''));
}

function checkGroups(target: Target): void {
  const { definition, groups } = target;
  if (groups === null || groups.length === 0) {
    throw musterError('bad_request', `A target of definition ${definition} needs at least one group`, 'target.groups');
  }
  for (const [index, group] of groups.entries()) {
    const field = `target.groups.${index}.members`;
    if (group.members.length === 0) throw musterError('bad_request', `Group ${group.name} has no members`, field);
    for (const member of group.members) {
      if (member.trim() === '') throw musterError('bad_request', `Group ${group.name} has an empty member`, field);
      if (definition === 'image' && !isImageId(member)) {
        throw musterError('bad_request', `Member ${member} of group ${group.name} is not an image id (UUID)`, field);
      }
    }
  }
}

/**
 * The target as it is stored, `dynamic` when none is given (cfs-api 9): `dynamic` and `repo` take no groups, `spec` and
 * `image` need some, with members, for images UUIDs. Throws `bad_request` that names the field.
 */
export function checkTarget(body: TargetBody | undefined): Target {
  const target: Target = {
    definition: body?.definition ?? 'dynamic',
    groups: body?.groups ?? null,
    image_map: body?.image_map ?? null,
  };
  if (target.definition === 'image' || target.definition === 'spec') checkGroups(target);
  else if (target.groups !== null && target.groups.length > 0) {
    throw musterError('bad_request', `A target of definition ${target.definition} takes no groups`, 'target.groups');
  }
  return target;
}
