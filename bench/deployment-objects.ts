/** Small objects of the kinds that applications have most, as manifests and as paths. */

export interface BareObject {
  path: string;
  manifest: object;
}

export interface App {
  name: string;
  /** YAML. */
  manifests: string;
  objects: BareObject[];
}

type MakeObject = (name: string) => BareObject;

const NAMESPACE = 'default';

const configMap: MakeObject = (name) => ({
  path: `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`,
  manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color: 'blue', text: 'x'.repeat(200) } },
});
const serviceAccount: MakeObject = (name) => ({
  path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}`,
  manifest: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
});
const deployment: MakeObject = (name) => ({
  path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${name}`,
  manifest: {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'registry.example.com/main:1' }] },
      },
    },
  },
});

/** Returns an app of so many objects: half are ConfigMaps, the others ServiceAccounts and Deployments. */
export function appOf(name: string, count: number): App {
  const kinds = [configMap, serviceAccount, configMap, deployment];
  const objects = Array.from({ length: count }, (_, index) =>
    (kinds[index % kinds.length] ?? configMap)(`${name}-${index}`),
  );
  return { name, objects, manifests: manifestsOf(objects) };
}

/** Returns an app of so many ConfigMaps. */
export function mapsOf(name: string, count: number): App {
  const objects = Array.from({ length: count }, (_, index) => configMap(`${name}-${index}`));
  return { name, objects, manifests: manifestsOf(objects) };
}

/** Each document is JSON, which is YAML too. */
function manifestsOf(objects: readonly BareObject[]): string {
  return objects.map(({ manifest }) => JSON.stringify(manifest)).join('\n---\n');
}

/** Returns a manifest with a label, as it is sent. */
export function labelled({ path, manifest }: BareObject, labels: Readonly<Record<string, string>>): BareObject {
  const { metadata, ...others } = manifest as { metadata: object };
  return { path, manifest: { ...others, metadata: { ...metadata, namespace: NAMESPACE, labels } } };
}
