import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { ConfigMaps } from '../../domain/secrets/ports.ts';

/** DNS-1123 subdomain. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_MAX = 253;
const KEY = /^(?!\.\.?$)[-._a-zA-Z0-9]{1,253}$/;

/** ConfigMaps as files `<dir>/<namespace>/<name>/<key>`. */
export function openConfigMaps(dir: string): ConfigMaps {
  const folder = (namespace: string, name: string) => {
    if (![namespace, name].every((part) => NAME.test(part) && part.length <= NAME_MAX)) {
      throw musterError('config_missing', `${namespace}/${name} is no name of a ConfigMap`);
    }
    return join(dir, namespace, name);
  };
  const missing = (namespace: string, name: string, key: string) =>
    musterError('config_missing', `ConfigMap ${name} in namespace ${namespace} has no ${key}`);
  const get = async (namespace: string, name: string, key: string) => {
    const path = folder(namespace, name);
    if (!KEY.test(key)) throw missing(namespace, name, key);
    try {
      return await readFile(join(path, key), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw missing(namespace, name, key);
      throw error;
    }
  };
  return {
    get,
    first: async (namespace, name) => {
      const keys = await readdir(folder(namespace, name)).catch(() => []);
      const key = keys.filter((candidate) => KEY.test(candidate)).sort()[0];
      if (key === undefined) throw missing(namespace, name, 'key');
      return get(namespace, name, key);
    },
    put: async (namespace, name, key, value) => {
      const path = folder(namespace, name);
      if (!KEY.test(key)) throw missing(namespace, name, key);
      await mkdir(path, { recursive: true, mode: 0o700 });
      // `~` is in no key, so a half-written value is never read as one.
      const temporary = join(path, `~${randomUUID()}`);
      try {
        await writeFile(temporary, value, { mode: 0o600 });
        await rename(temporary, join(path, key));
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}
