/** What is changed in a manifest before it is sent or shown. */
import { identityOf } from './manifest-identity.ts';
import { at, hasMembers, type Members, membersOf } from './members.ts';
import { DEPLOYMENT_LABEL } from './naming.ts';

/** Members of `metadata` that the server alone writes. */
const SERVERS_OWN = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink'];

/** `kubectl apply` keeps the whole object here once more, values of a Secret included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What stands for every value of a Secret. */
export const MASKED = '***';

/** Pod templates by where they stand. */
const TEMPLATES: readonly (readonly string[])[] = [
  ['spec', 'template'],
  ['spec', 'jobTemplate', 'spec', 'template'],
];

/**
 * Returns the manifest as it is applied: with our label on it and on its pod template, whatever label it had; without status, nulls and
 * what the server alone writes. `namespace`: that of a namespaced object that names none; null for other objects.
 */
export function manifestToApply(manifest: Members, label: string, namespace: string | null): Members {
  const { status: _, ...rest } = membersOf(withoutNulls(manifest));
  const metadata: Record<string, unknown> = { ...membersOf(rest.metadata) };
  for (const member of SERVERS_OWN) delete metadata[member];
  if (namespace !== null && !metadata.namespace) metadata.namespace = namespace;
  let applied: Members = labelled({ ...rest, metadata }, label);
  for (const path of TEMPLATES) {
    const template = at(applied, ...path);
    if (hasMembers(template)) applied = replaced(applied, path, labelled(template, label));
  }
  return applied;
}

/** Returns a manifest or live object without what `kubectl apply` keeps of it in an annotation: a server-side apply does not read that. */
export function withoutLastApplied(object: Members): Members {
  if (at(object, 'metadata', 'annotations', LAST_APPLIED) === undefined) return object;
  const { annotations, ...metadata } = membersOf(object.metadata);
  const { [LAST_APPLIED]: _, ...kept } = membersOf(annotations);
  const isEmpty = Object.keys(kept).length === 0;
  return { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: kept } };
}

/** Returns a manifest or live object with every value of a Secret masked, also those in its annotation of `kubectl`; others as they are. */
export function withoutSecretValues(object: Members): Members {
  // A version with a slash before it is the same for a cluster.
  const { group, kind } = identityOf(object);
  if (kind !== 'Secret' || group !== '') return object;
  const shown: Record<string, unknown> = { ...object };
  for (const member of ['data', 'stringData']) {
    if (!hasMembers(object[member])) {
      if (object[member] !== undefined) shown[member] = MASKED;
      continue;
    }
    shown[member] = Object.fromEntries(Object.keys(object[member] as object).map((key) => [key, MASKED]));
  }
  if (at(object, 'metadata', 'annotations', LAST_APPLIED) === undefined) return shown;
  return replaced(shown, ['metadata', 'annotations', LAST_APPLIED], MASKED);
}

function labelled(object: Members, label: string): Members {
  const metadata = membersOf(object.metadata);
  return { ...object, metadata: { ...metadata, labels: { ...membersOf(metadata.labels), [DEPLOYMENT_LABEL]: label } } };
}

function replaced(object: Members, [name = '', ...path]: readonly string[], value: unknown): Members {
  return { ...object, [name]: path.length === 0 ? value : replaced(membersOf(object[name]), path, value) };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!hasMembers(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
