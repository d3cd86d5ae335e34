/** Objects that network intents of a cluster become. */
import type { Members } from './members.ts';

/** The one app of an AppContext of network intents. */
export const NETWORK_APP = 'network-intents';
const API_VERSION = 'k8s.plugin.opnfv.org/v1alpha1';

export interface NetworkIntent {
  kind: 'network' | 'provider-network';
  metadata: Members;
  spec: Members;
}

/** Returns the manifests of a cluster's network intents: networks come before provider networks, each in the given order. */
export function networkManifests(intents: readonly NetworkIntent[]): Members[] {
  const of = (kind: NetworkIntent['kind']) => intents.filter((intent) => intent.kind === kind);
  return [
    ...of('network').map(({ metadata, spec }) => ({
      apiVersion: API_VERSION,
      kind: 'Network',
      metadata: named(metadata),
      spec,
    })),
    ...of('provider-network').map(({ metadata, spec }) => ({
      apiVersion: API_VERSION,
      kind: 'ProviderNetwork',
      metadata: named(metadata),
      spec: withVlanId(spec),
    })),
  ];
}

/** Kubernetes knows no description and no user data in metadata: they become annotations. */
function named({ name, ...others }: Members): Members {
  const said = Object.entries(others).filter(([, value]) => typeof value === 'string' && value !== '');
  if (said.length === 0) return { name };
  return { name, annotations: Object.fromEntries(said.map(([key, value]) => [`muster/${key}`, value])) };
}

/** The intent's `vlanID` is `vlanId` in the object. */
function withVlanId(spec: Members): Members {
  const { vlan } = spec;
  if (typeof vlan !== 'object' || vlan === null) return spec;
  const { vlanID, ...rest } = vlan as Record<string, unknown>;
  return { ...spec, vlan: vlanID === undefined ? rest : { vlanId: vlanID, ...rest } };
}
