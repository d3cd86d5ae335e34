/** Which images a session customises, and what the results are called (cfs-flows 3.3). */
import type { Target } from './schema.ts';

/** The distinct images of all groups, in the order in which they are first named. */
export function imagesOf(target: { groups: readonly { members: readonly string[] }[] | null }): string[] {
  return [...new Set((target.groups ?? []).flatMap((group) => group.members))];
}

/** Whether two texts are the id of one image: of a UUID hyphens are optional and case does not count. */
export function isSameImage(a: string, b: string): boolean {
  const plain = (id: string): string => id.replaceAll('-', '').toLowerCase();
  return plain(a) === plain(b);
}

/** A target with these of its images alone: groups of which nothing is left go, and so do names of results. */
export function withImages(target: Target, images: readonly string[]): Target {
  const stays = (id: string) => images.some((image) => isSameImage(image, id));
  const groups = (target.groups ?? []).map(({ name, members }) => ({ name, members: members.filter(stays) }));
  return {
    ...target,
    groups: groups.filter(({ members }) => members.length > 0),
    image_map: target.image_map?.filter(({ source_id }) => stays(source_id)) ?? null,
  };
}

/** The name that the session wants for what comes of an image, or null: then it is made from the image's own name. */
export function mappedName(target: Pick<Target, 'image_map'>, imageId: string): string | null {
  const entry = (target.image_map ?? []).find(({ source_id }) => isSameImage(source_id, imageId));
  return entry?.result_name ?? null;
}

/** Name of the result where the session wants none: `<image name>_cfs_<session>`. */
export function resultNameOf(imageName: string, sessionName: string): string {
  return `${imageName}_cfs_${sessionName}`;
}

/** Name of the session's public key at the image service. */
export function imageKeyName(sessionName: string): string {
  return `cfs_${sessionName}`;
}

/** Secret that holds the session's key pair for images as long as it works: `private` and `public`. */
export function imageKeySecret(sessionId: string): string {
  return `muster-image-${sessionId}`;
}
