/** Which images a session customises, and what the results are called (cfs-flows 3.3). */
import { IMAGE_KEY_PREFIX } from '../../secrets/secret-uses.ts';
import type { Target } from '../schema.ts';

/** What of a target says which images there are. */
interface ImageTarget {
  groups: readonly { name: string; members: readonly string[] }[] | null;
}

/** The distinct images of all groups, in the order in which they are first named and as they are named there: so are their hosts called. */
export function imagesOf({ groups }: ImageTarget): string[] {
  return [...spellings(groups).values()];
}

/** The groups with each image named as where it is named first. */
export function imageGroups({ groups }: ImageTarget): { name: string; members: string[] }[] {
  const spelled = spellings(groups);
  return (groups ?? []).map(({ name, members }) => ({
    name,
    members: members.map((member) => spelled.get(plain(member)) ?? member),
  }));
}

/** How each image is named first. */
function spellings(groups: ImageTarget['groups']): Map<string, string> {
  const first = new Map<string, string>();
  for (const member of (groups ?? []).flatMap(({ members }) => members)) {
    if (!first.has(plain(member))) first.set(plain(member), member);
  }
  return first;
}

const plain = (id: string): string => id.replaceAll('-', '').toLowerCase();

/** Whether two texts are the id of one image: of a UUID hyphens are optional and case does not count. */
export function isSameImage(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

/** The id as image services write it: lower-case, with hyphens. */
export function serviceImageId(id: string): string {
  return plain(id).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
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

/** The name that the session wants for what comes of an image, or null (none or an empty one): then it is made from the image's own name. */
export function mappedName(target: Pick<Target, 'image_map'>, imageId: string): string | null {
  const entry = (target.image_map ?? []).find(({ source_id }) => isSameImage(source_id, imageId));
  return entry?.result_name || null;
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
  return `${IMAGE_KEY_PREFIX}${sessionId}`;
}
