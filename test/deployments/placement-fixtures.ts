/** A project with everything that a deployment needs, made over REST as EMCO's client makes it. */
import { archiveOf } from './archive-fixture.ts';
import { FORM_HEADERS, formOf, formOfArchive, kubeconfigOf, named } from './cluster-fixtures.ts';

type Send = (
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: unknown }>;

/** Manifests of an app: of a ConfigMap and a Service, in the order in which they are not installed. */
export const MANIFESTS = `
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {ports: [{port: 80}], selector: {app: agent}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data: {color: blue}
`;

export const SECRET_MANIFEST = `
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: hunter7}
`;

export async function appForm(name: string, manifests = MANIFESTS): Promise<Buffer> {
  return formOfArchive(named(name), await archiveOf([['deploy/all.yaml', manifests]]));
}

export interface Made {
  project: string;
  compositeApp: string;
  group: string;
  cloud: string;
  provider: string;
}

export interface Wanted {
  /** Kubeconfigs of the clusters by their names. */
  clusters?: Readonly<Record<string, string>>;
  /** Manifests of the apps by their names. */
  apps?: Readonly<Record<string, string>>;
  /** Settings of the deployment. */
  muster?: object;
  namespace?: string;
}

/** Makes everything up to a deployment intent group in state Created; the logical cloud is instantiated. Returns the paths. */
export async function makeDeployment(send: Send, name: string, wanted: Wanted = {}): Promise<Made> {
  const { clusters = { north: kubeconfigOf() }, apps = { agent: MANIFESTS }, muster, namespace } = wanted;
  const good = async (method: string, url: string, body?: unknown, headers?: Record<string, string>) => {
    const { status, body: answered } = await send(method, url, body, headers);
    if (status >= 300) throw new Error(`${method} ${url}: ${status} ${JSON.stringify(answered)}`);
  };
  const [project, provider] = [`/v2/projects/${name}`, `lab-${name}`];
  const compositeApp = `${project}/composite-apps/telemetry/v1`;
  const [group, cloud] = [`${compositeApp}/deployment-intent-groups/edge`, `${project}/logical-clouds/default`];
  await good('POST', '/v2/cluster-providers', named(provider));
  for (const [cluster, file] of Object.entries(clusters)) {
    await good('POST', `/v2/cluster-providers/${provider}/clusters`, formOf(named(cluster), file), FORM_HEADERS);
  }
  await good('POST', '/v2/projects', named(name));
  const spec = { level: '0', ...(namespace === undefined ? {} : { namespace }) };
  await good('POST', `${project}/logical-clouds`, { ...named('default'), spec });
  for (const cluster of Object.keys(clusters)) {
    const reference = { 'cluster-provider': provider, 'cluster-name': cluster, 'loadbalancer-ip': '0.0.0.0' };
    await good('POST', `${cloud}/cluster-references`, { ...named(`ref-${cluster}`), spec: reference });
  }
  await good('POST', `${cloud}/instantiate`, {});
  await good('POST', `${project}/composite-apps`, { ...named('telemetry'), spec: { version: 'v1' } });
  for (const [app, manifests] of Object.entries(apps)) {
    await good('POST', `${compositeApp}/apps`, await appForm(app, manifests), FORM_HEADERS);
  }
  await good('POST', `${compositeApp}/composite-profiles`, named('base'));
  await good('POST', `${compositeApp}/deployment-intent-groups`, groupBody('edge', muster));
  await good('POST', `${group}/generic-placement-intents`, named('where'));
  for (const app of Object.keys(apps)) {
    const allOf = Object.keys(clusters).map((cluster) => ({ 'provider-name': provider, 'cluster-name': cluster }));
    const intent = { ...named(`${app}-where`), spec: { 'app-name': app, intent: { allOf } } };
    await good('POST', `${group}/generic-placement-intents/where/app-intents`, intent);
  }
  await good('POST', `${group}/intents`, { ...named('all'), spec: { intent: { genericPlacementIntent: 'where' } } });
  return { project, compositeApp, group, cloud, provider };
}

export function groupBody(name: string, muster?: object) {
  const spec = { profile: 'base', version: 'r1', 'logical-cloud': 'default', 'override-values': [] };
  return { ...named(name), spec: { ...spec, ...(muster === undefined ? {} : { muster }) } };
}
