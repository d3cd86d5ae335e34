/** Which images of a session are good: by what Ansible says of each, not by the exit status of all (cfs-flows 8.8). */

import type { HostStatus } from '../../runs/schema.ts';
import { plainLimitHosts } from '../ansible-limit.ts';
import { layerNumber } from '../layer-name.ts';
import { IMAGE_GROUP } from './image-inventory.ts';

/** The last run of one layer. */
export interface ImageLayer {
  layer: number;
  /** Null: no run of it ended, or nobody knows how. */
  exitCode: number | null;
  /** What each image reached in it, by the image's id; images without a result are absent. */
  results: ReadonlyMap<string, HostStatus>;
}

interface Group {
  name: string;
  members: readonly string[];
}

/** Ansible's exit status when hosts failed (2) or could not be reached (4) while others went on. */
const HOSTS_FAILED: readonly number[] = [2, 4, 6];

/**
 * Why an image must not become a new one, or null when it is good: every layer that was to run has run to its end, and none
 * failed on it. In a layer that failed somewhere, an image without a result of its own is not known to be good.
 * @param selected layers that were to run, in order
 * @param layers what ran, by layer
 */
export function imageFault(image: string, selected: readonly number[], layers: readonly ImageLayer[]): string | null {
  for (const index of selected) {
    const run = layers.find(({ layer }) => layer === index);
    if (run === undefined) return `${layerNumber(index)} did not run`;
    const result = run.results.get(image);
    if (run.exitCode === null) return `nobody knows how ${layerNumber(index)} ended`;
    if (result !== undefined && result !== 'applied')
      return `${layerNumber(index)} ${result === 'failed' ? 'failed' : 'is incomplete'}`;
    if (run.exitCode === 0) continue;
    if (!HOSTS_FAILED.includes(run.exitCode)) return `${layerNumber(index)} ended with exit status ${run.exitCode}`;
    if (result === undefined) return `${layerNumber(index)} failed before it came to this image`;
  }
  return null;
}

/**
 * Whether the limit that was asked for has left an image out, so that it is nobody's failure that it becomes no new one: no layer came to it, and
 * the limit does not name it. Where the limit is more than a list of the target's images and groups, only layers that all succeeded
 * tell that it does not. An image that no play was for, without limit or within it, is not left out.
 * @param limit of the session; null or '' when there is none
 * @param selected layers that were to run
 * @param layers what ran, as far as results of hosts are reported
 */
export function isLeftOut(
  image: string,
  { limit, groups }: { limit: string | null; groups: readonly Group[] },
  selected: readonly number[],
  layers: readonly ImageLayer[],
): boolean {
  if (!limit || layers.some(({ results }) => results.has(image))) return false;
  const named = isNamed(image, limit, groups);
  if (named !== null) return !named;
  return selected.every((index) => layers.some(({ layer, exitCode }) => layer === index && exitCode === 0));
}

/**
 * Whether a layer that failed on others has to run on an image all the same: it has no result of it, as when a play ended before it came to the image,
 * and the limit has not left it out, as far as that is known.
 * @param layers what ran of all layers of the session
 */
export function isNotReached(
  image: string,
  layer: number,
  { limit, groups }: { limit: string | null; groups: readonly Group[] },
  layers: readonly ImageLayer[],
): boolean {
  const came = layers.filter(({ results }) => results.has(image));
  if (came.some((run) => run.layer === layer)) return false;
  return !limit || came.length > 0 || isNamed(image, limit, groups) === true;
}

/** Whether a limit names an image or a group of it; null when only Ansible knows. */
function isNamed(image: string, limit: string, groups: readonly Group[]): boolean | null {
  const items = plainLimitHosts(limit);
  if (items === null) return null;
  const members = new Map(groups.map((group) => [group.name, group.members]));
  const images = new Set(groups.flatMap((group) => group.members));
  const all = ['all', IMAGE_GROUP];
  if (items.some((item) => item === image || all.includes(item) || members.get(item)?.includes(image))) return true;
  return items.every((item) => images.has(item) || members.has(item)) ? false : null;
}
