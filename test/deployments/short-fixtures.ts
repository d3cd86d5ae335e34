/** Documents of the short form, and clusters that they can choose. */
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';
import { MANIFESTS } from './placement-fixtures.ts';

type Send = (
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: unknown }>;

/** Registers clusters of a provider, each with its labels. */
export async function makeClusters(
  send: Send,
  provider: string,
  clusters: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  await send('POST', '/v2/cluster-providers', named(provider));
  const path = `/v2/cluster-providers/${provider}/clusters`;
  for (const [cluster, labels] of Object.entries(clusters)) {
    const { status, body } = await send('POST', path, formOf(named(cluster), kubeconfigOf()), FORM_HEADERS);
    if (status !== 201) throw new Error(JSON.stringify(body));
    for (const label of labels) await send('POST', `${path}/${cluster}/labels`, { 'label-name': label });
  }
}

/** Returns a document with one app on every cluster of a provider that has the label `edge`. */
export function documentOf(name: string, provider: string, more: object = {}) {
  const placement = { all_of: [{ provider, label: 'edge' }] };
  return { name, apps: [{ name: 'agent', manifests: MANIFESTS, placement }], ...more };
}
