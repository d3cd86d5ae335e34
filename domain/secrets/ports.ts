/** What lane secrets needs from outside; drivers fit this shape. */
import type { SecretUse } from './secret-uses.ts';

/** Named sets of secret values; a Secret of a cluster, or a table encrypted with the key file. */
export interface SecretStore {
  /** The values by key, or `null` when there is no secret of that name. */
  get(name: string): Promise<Record<string, string> | null>;
  /** Sets one value and leaves the others; `actor` is who asked for it, kept where the store can. */
  put(name: string, key: string, value: string, actor?: string | null): Promise<void>;
  /** Replaces the whole secret. */
  putAll(name: string, values: Record<string, string>, actor?: string | null): Promise<void>;
  /** Removes one value and leaves the others; with its last value the secret is gone. No error when it is not there. */
  deleteKey(name: string, key: string, actor?: string | null): Promise<void>;
  /** Removes the whole secret; no error when it is not there. */
  delete(name: string, actor?: string | null): Promise<void>;
  /** Names with their keys, sorted; never a value. */
  list(): Promise<{ name: string; keys: string[] }[]>;
}

/** What the lanes above know of secrets. */
export interface SecretUsers {
  /** Every use of a secret, the built-in ones first. */
  usesOf(name: string): Promise<SecretUse[]>;
  /** A secret was set or removed: work that waited for it is tried again. */
  changed(): Promise<void>;
}
