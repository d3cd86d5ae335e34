/** From the documents of an app's files to its resources, in the order in which they are applied. */
import { musterError } from '../errors.ts';
import { withoutLastApplied } from './manifest-cleaning.ts';
import { checkDistinct, type Identity, identityOf, keysOf, type Place, placeText } from './manifest-identity.ts';
import { inInstallOrder } from './manifest-order.ts';
import { at, hasMembers, listAt, type Members } from './members.ts';
import { DEPLOYMENT_LABEL } from './naming.ts';
import { inWaitOrder } from './resource-waits.ts';

export interface ReadDocument extends Place {
  data: unknown;
}

export interface Manifest extends Identity, Place {
  key: string;
  manifest: Members;
}

export interface ReadManifests {
  manifests: Manifest[];
  /** Documents that were left out although they say something. */
  warnings: string[];
}

/** How deep lists of lists are followed. */
const LIST_DEPTH = 4;

/**
 * Returns the manifests of documents, each behind those that it waits for. Empty documents are left out, those without `apiVersion` and `kind` with a warning.
 * Throws `render_failed` for a manifest that cannot be applied, and for the same object twice.
 */
export function readManifests(documents: readonly ReadDocument[]): ReadManifests {
  const warnings: string[] = [];
  const found = documents.flatMap(({ data, path, document }) => flatten(data, { path, document }, warnings, 0));
  const manifests = inInstallOrder(found);
  checkDistinct(manifests.map((manifest) => ({ identity: manifest, place: manifest })));
  const keys = keysOf(manifests);
  const { ordered, problem } = inWaitOrder(
    manifests.map((manifest, index) => ({ ...manifest, key: keys[index] as string })),
  );
  if (problem !== null) warnings.push(`${problem}: the app cannot be instantiated so`);
  return { manifests: [...ordered], warnings };
}

function flatten(data: unknown, place: Place, warnings: string[], depth: number): Omit<Manifest, 'key'>[] {
  if (data === null || data === undefined) return [];
  const identity = hasMembers(data) ? identityOf(data) : null;
  if (!hasMembers(data) || identity === null || identity.kind === '' || identity.version === '') {
    warnings.push(`${placeText(place)} has no apiVersion and kind and was left out`);
    return [];
  }
  if (identity.kind === 'List') {
    if (depth === LIST_DEPTH) throw refused('is a list in too many lists', place);
    return listAt(data, 'items').flatMap((item) => flatten(item, place, warnings, depth + 1));
  }
  const { name, namespace, group, version, kind } = identity;
  if (name === '') throw refused(`has no metadata.name (kind ${identity.kind})`, place);
  for (const segment of [name, namespace, group, version, kind]) {
    if (!isSegment(segment))
      throw refused(`has the name '${segment.slice(0, 200)}', which cannot be part of a path`, place);
  }
  if (selects(at(data, 'spec', 'selector'))) {
    throw refused(`selects by the label ${DEPLOYMENT_LABEL}, which changes with each instance`, place);
  }
  return [{ ...identity, ...place, manifest: withoutLastApplied(data) }];
}

/** Whether a name can stand in a path. An empty namespace is none. */
function isSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name) && !name.includes('\0');
}

/** A selector is a map of labels, or has such a map and expressions. */
function selects(selector: unknown): boolean {
  const maps = [selector, at(selector, 'matchLabels')];
  const keys = listAt(selector, 'matchExpressions').map((expression) => at(expression, 'key'));
  return maps.some((map) => hasMembers(map) && Object.hasOwn(map, DEPLOYMENT_LABEL)) || keys.includes(DEPLOYMENT_LABEL);
}

function refused(what: string, place: Place) {
  return musterError('render_failed', `${placeText(place)} ${what}`);
}
