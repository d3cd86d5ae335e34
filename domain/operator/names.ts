/** Group, version and kind (GVK) of a resource, and the names that are made of them. */
export interface Gvk {
  /** Empty for the core group. */
  group: string;
  version: string;
  kind: string;
}

/** Returns `<group>/<version>, Kind=<kind>`, as Kubernetes writes it in messages and metrics. */
export function gvkText({ group, version, kind }: Gvk): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** Returns `<group>/<version>`, or the version alone in the core group. */
export function apiVersionOf({ group, version }: Pick<Gvk, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the group and the version of an `apiVersion`; null for a text with more than one slash, or none at all. */
export function groupVersionOf(apiVersion: string): Pick<Gvk, 'group' | 'version'> | null {
  const parts = apiVersion.split('/');
  const version = parts.at(-1) ?? '';
  if (parts.length > 2 || version === '') return null;
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version };
}

/** Returns the end of the variables of the environment that are meant for one kind: `MEMCACHED_CACHE_EXAMPLE_COM`. */
export function variableSuffix({ group, kind }: Pick<Gvk, 'group' | 'kind'>): string {
  return `${kind.toUpperCase()}_${group.toUpperCase().replaceAll('.', '_')}`;
}

/**
 * Returns the name of an entry's controller in metrics: `<kind>-<version>-controller`, and with the group in it where the entries of
 * the operator have another group of the same kind and version, so that every entry has a name of its own.
 */
export function controllerName(gvk: Gvk, all: readonly Gvk[]): string {
  const shared = all.some(
    ({ group, version, kind }) => group !== gvk.group && version === gvk.version && kindIs(kind, gvk.kind),
  );
  const group = shared && gvk.group !== '' ? `${gvk.group}-` : '';
  return `${gvk.kind}-${group}${gvk.version}-controller`.toLowerCase();
}

const kindIs = (kind: string, other: string): boolean => kind.toLowerCase() === other.toLowerCase();
