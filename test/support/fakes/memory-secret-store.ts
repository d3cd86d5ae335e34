import type { SecretStore } from '../../../domain/secrets/ports.ts';

/** A store of secrets that forgets everything at the end of the test. */
export function createMemorySecretStore(): SecretStore {
  const secrets = new Map<string, Map<string, string>>();
  return {
    get: async (name) => {
      const found = secrets.get(name);
      return found === undefined ? null : Object.fromEntries(found);
    },
    put: async (name, key, value) => {
      secrets.set(name, new Map(secrets.get(name)).set(key, value));
    },
    putAll: async (name, values) => {
      secrets.set(name, new Map(Object.entries(values)));
    },
    deleteKey: async (name, key) => {
      const values = secrets.get(name);
      values?.delete(key);
      if (values?.size === 0) secrets.delete(name);
    },
    delete: async (name) => {
      secrets.delete(name);
    },
    list: async () =>
      [...secrets]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, values]) => ({ name, keys: [...values.keys()].sort() })),
  };
}
