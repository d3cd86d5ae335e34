/** What lane secrets needs from outside; drivers fit these shapes. */
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

/** Named plain texts by namespace: ConfigMaps of a cluster, or files. */
export interface ConfigMaps {
  /** One value; throws `config_missing` with the name. */
  get(namespace: string, name: string, key: string): Promise<string>;
  /** The value of the first key in sorted order; throws `config_missing` with the name. */
  first(namespace: string, name: string): Promise<string>;
  put(namespace: string, name: string, key: string, value: string): Promise<void>;
}

/** Encrypts values so that each opens only with a key of this installation and in its own place (`context`). */
export interface SecretCipher {
  encrypt(plaintext: string, context: string): Buffer;
  /** Throws `secret_unreadable` when key or place is another one, or the data was changed. */
  decrypt(ciphertext: Buffer, context: string): string;
}
