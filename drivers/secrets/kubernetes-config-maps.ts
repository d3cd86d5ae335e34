import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { musterError } from '../../domain/errors.ts';
import type { ConfigMaps } from '../../domain/secrets/ports.ts';

/** For one answer of the cluster, ms. */
const PATIENCE = 4_000;
const ABSENT = 404;
/** We may not read there; for those who name it that is as if there was none. */
const FORBIDDEN = 403;

export interface KubernetesConfigMapsOptions {
  /** Namespace of the ConfigMaps that are named with `unnamed`. */
  namespace: string;
  /** Namespace in which callers look unless another is named. */
  unnamed: string;
  /** What the cluster does not have is read here, and all that Muster itself puts is put here. */
  shipped: ConfigMaps;
  /** Path of a kubeconfig. Default: KUBECONFIG, `~/.kube/config`, then the service account of the pod. */
  kubeconfig?: string | undefined;
}

/** ConfigMaps of a cluster, which are only read; those that Muster ships stand in where the cluster has none of that name. */
export function openKubernetesConfigMaps(options: KubernetesConfigMapsOptions): ConfigMaps {
  const { namespace, unnamed, shipped, kubeconfig } = options;
  const config = new KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);

  const dataOf = async (space: string, name: string): Promise<Record<string, string>> => {
    const where = space === unnamed ? namespace : space;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no answer within ${PATIENCE / 1000} s`)), PATIENCE);
    try {
      const map = await Promise.race([api.readNamespacedConfigMap({ name, namespace: where }), late.promise]);
      return map.data ?? {};
    } catch (error) {
      if (error instanceof ApiException && [ABSENT, FORBIDDEN].includes(error.code)) return {};
      const words = error instanceof ApiException ? `the cluster answered ${error.code}` : String(error);
      throw musterError('secret_store_unavailable', `ConfigMap ${name} in namespace ${where}: ${words}`);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    get: async (space, name, key) => {
      const data = await dataOf(space, name);
      return Object.hasOwn(data, key) ? (data[key] ?? '') : shipped.get(space, name, key);
    },
    first: async (space, name) => {
      const [entry] = Object.entries(await dataOf(space, name)).sort(([a], [b]) => (a < b ? -1 : 1));
      return entry === undefined ? shipped.first(space, name) : entry[1];
    },
    put: shipped.put,
  };
}
