/** A resource as the API server has it; only what the rules read is named. */
export interface CustomResource {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /** Whatever its authors wrote; a resource may have none. */
  spec?: unknown;
  status?: unknown;
}

export interface ObjectMeta {
  name: string;
  /** Absent for cluster-scoped resources. */
  namespace?: string;
  uid: string;
  /** Absent for kinds that have none, such as Secrets. */
  generation?: number;
  resourceVersion?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  deletionTimestamp?: string;
}

/** Whether a value is a map of JSON. */
export function isJsonMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether somebody wants the resource to go. */
export function isDeleting({ metadata }: Pick<CustomResource, 'metadata'>): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Whether the resource carries a finalizer. */
export function hasFinalizer({ metadata }: Pick<CustomResource, 'metadata'>, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}
