import { ApiException, CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';

/** For one answer of the cluster, ms. */
const PATIENCE = 4_000;
/** Marks what Muster made; secrets of others are read by name but never listed. */
const OWNER = { 'app.kubernetes.io/managed-by': 'muster' } as const;
/** Names that follow one another when a list is read in pieces. */
const LIST_PAGE = 500;
/** Names of what Muster made, as keys: a role that may read secrets by their names need not be allowed to list them. */
const INDEX = 'muster-secret-names';
/** Secrets read at once to name their keys. */
const WIDTH = 8;
const FORBIDDEN = 403;
const ABSENT = 404;
const CONFLICT = 409;

/** Values in base64 by key; null removes one. */
type Data = Record<string, string | null>;

export interface KubernetesSecretsOptions {
  /** Namespace that holds the secrets. */
  namespace: string;
  /** Path of a kubeconfig. Default: KUBECONFIG, `~/.kube/config`, then the service account of the pod. */
  kubeconfig?: string | undefined;
}

/**
 * Secrets of a cluster, one Kubernetes Secret each: values by key. A cluster that refuses or does not answer is
 * `secret_store_unavailable` with its own words; they never hold a value.
 */
export function openKubernetesSecrets({ namespace, kubeconfig }: KubernetesSecretsOptions) {
  const config = new KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const at = (name: string) => ({ name, namespace });
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

  /** Notes in the index that the name is there, or no longer. */
  const note = async (name: string, isThere: boolean): Promise<void> => {
    const data = { [name]: isThere ? '' : null };
    for (;;) {
      const patch = () => api.patchNamespacedSecret({ ...at(INDEX), body: { data } }, merge);
      if ((await asked(name, [ABSENT], patch)) !== null || !isThere) return;
      const body = { metadata: { name: INDEX }, type: 'Opaque', data: { [name]: '' } };
      if ((await asked(name, [CONFLICT], () => api.createNamespacedSecret({ namespace, body }))) !== null) return;
    }
  };

  /** Makes the secret, or says that somebody else has made it. A name in the index whose secret never came is not listed. */
  const create = async (name: string, values: Record<string, string>): Promise<boolean> => {
    await note(name, true);
    const body = { metadata: { name, labels: OWNER }, type: 'Opaque', data: encoded(values) };
    return (await asked(name, [CONFLICT], () => api.createNamespacedSecret({ namespace, body }))) !== null;
  };

  /** Changes the secret, or says that there is none, or that it is no longer the one of `resourceVersion`. */
  const change = async (name: string, data: Data, resourceVersion?: string): Promise<boolean> => {
    const body = { data, ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }) };
    const patch = () => api.patchNamespacedSecret({ ...at(name), body }, merge);
    return (await asked(name, [ABSENT, CONFLICT], patch)) !== null;
  };

  const stored = (name: string) => asked(name, [ABSENT], () => api.readNamespacedSecret(at(name)));

  return {
    async get(name: string): Promise<Record<string, string> | null> {
      const secret = await stored(name);
      return secret === null ? null : decoded(secret.data ?? {});
    },
    async put(name: string, key: string, value: string): Promise<void> {
      const values = { [key]: value };
      // Two that set the first value at once: the one that comes second changes what the other has made.
      while (!(await change(name, encoded(values)))) if (await create(name, values)) return;
    },
    async putAll(name: string, values: Record<string, string>): Promise<void> {
      for (;;) {
        const secret = await stored(name);
        if (secret === null) {
          if (await create(name, values)) return;
          continue;
        }
        const gone = Object.keys(secret.data ?? {}).filter((key) => !Object.hasOwn(values, key));
        const data = { ...Object.fromEntries(gone.map((key) => [key, null])), ...encoded(values) };
        if (await change(name, data, secret.metadata?.resourceVersion)) return;
      }
    },
    async deleteKey(name: string, key: string): Promise<void> {
      await change(name, { [key]: null });
      const rest = await stored(name);
      const { uid, resourceVersion } = rest?.metadata ?? {};
      if (rest === null || Object.keys(rest.data ?? {}).length > 0 || !uid || !resourceVersion) return;
      // Unless somebody sets a value just now.
      const body = { preconditions: { uid, resourceVersion } };
      if ((await asked(name, [ABSENT, CONFLICT], () => api.deleteNamespacedSecret({ ...at(name), body }))) !== null) {
        await note(name, false);
      }
    },
    async delete(name: string): Promise<void> {
      await asked(name, [ABSENT], () => api.deleteNamespacedSecret(at(name)));
      await note(name, false);
    },
    async list(): Promise<{ name: string; keys: string[] }[]> {
      const found: { name: string; keys: string[] }[] = [];
      let next: string | undefined;
      do {
        const page = await asked('list', [FORBIDDEN], () =>
          api.listNamespacedSecret({
            namespace,
            labelSelector: Object.entries(OWNER)
              .map((pair) => pair.join('='))
              .join(),
            limit: LIST_PAGE,
            ...(next === undefined ? {} : { _continue: next }),
          }),
        );
        if (page === null) return listByIndex();
        for (const { metadata, data } of page.items) {
          found.push({ name: metadata?.name ?? '', keys: Object.keys(data ?? {}).sort() });
        }
        next = page.metadata?._continue || undefined;
      } while (next !== undefined);
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };

  /** The same as the cluster's list for a role that may not ask for it. */
  async function listByIndex(): Promise<{ name: string; keys: string[] }[]> {
    const names = Object.keys((await stored(INDEX))?.data ?? {}).sort();
    const found: { name: string; keys: string[] }[] = [];
    for (let first = 0; first < names.length; first += WIDTH) {
      const part = names.slice(first, first + WIDTH);
      const secrets = await Promise.all(part.map(stored));
      for (const [index, name] of part.entries()) {
        const secret = secrets[index];
        if (secret) found.push({ name, keys: Object.keys(secret.data ?? {}).sort() });
      }
    }
    return found;
  }

  /** The cluster's answer; null for a refusal that the caller expects. */
  async function asked<T>(name: string, expected: readonly number[], ask: () => Promise<T>): Promise<T | null> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no answer within ${PATIENCE / 1000} s`)), PATIENCE);
    try {
      return await Promise.race([ask(), late.promise]);
    } catch (error) {
      if (error instanceof ApiException && expected.includes(error.code)) return null;
      throw musterError('secret_store_unavailable', `Secret ${name} in namespace ${namespace}: ${reasonOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The cluster's status and reason; its message may quote what was sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ApiException)) return messageOf(error);
  const body: unknown = typeof error.body === 'string' ? parsed(error.body) : error.body;
  const reason = typeof body === 'object' && body !== null && 'reason' in body ? ` ${String(body.reason)}` : '';
  return `the cluster answered ${error.code}${reason}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function encoded(values: Record<string, string>): Record<string, string> {
  return mapped(values, (value) => Buffer.from(value, 'utf8').toString('base64'));
}

function decoded(data: Record<string, string>): Record<string, string> {
  return mapped(data, (value) => Buffer.from(value, 'base64').toString('utf8'));
}

function mapped(values: Record<string, string>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
