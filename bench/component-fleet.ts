/** A fleet as CFS keeps it: components with tags and what they reached of one of four configurations. */
import type { KeepAliveClient, Reply } from './keep-alive-client.ts';

const LAYERS = 4;
const AT_ONCE = 10_000;

const layerOf = (configuration: number, index: number) => ({
  clone_url: `https://vcs.example.test/vcs/site/config-management-${index}.git`,
  playbook: `site-${index}.yml`,
  commit: `${configuration}${index}`.padEnd(40, 'a'),
});

export const fleetId = (index: number): string =>
  `x${1000 + (index % 64)}c${index % 8}s${index % 16}b${index % 4}n${index}`;

/**
 * An entry of the bulk PUT with what it reached of so many layers. Most components are configured; every tenth lacks a layer (pending). None has failed but the one
 * whose id is the last of all.
 */
export function fleetEntry(index: number, layers = LAYERS) {
  const configuration = index % 4;
  const reached = Array.from({ length: index % 10 === 0 ? layers - 1 : layers }, (_, layer) => ({
    ...layerOf(configuration, layer),
    status: 'applied',
    session_name: `batcher-${(index % 4_000).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
  }));
  return {
    id: fleetId(index),
    desired_config: `fleet-${configuration}`,
    enabled: true,
    state: reached,
    tags: { role: index % 2 ? 'compute' : 'application', hostname: `nid${String(index).padStart(6, '0')}` },
  };
}

const LAST_ID = 'z-last-and-failed';

/** Makes the configurations that the fleet desires. */
export async function makeConfigurations(client: KeepAliveClient): Promise<void> {
  for (const configuration of [0, 1, 2, 3]) {
    const layers = Array.from({ length: LAYERS }, (_, index) => layerOf(configuration, index));
    expectOk(await client.send('PUT', `/v3/configurations/fleet-${configuration}`, { layers }));
  }
}

/** Makes configurations and components anew. */
export async function makeFleet(client: KeepAliveClient, count: number): Promise<void> {
  await makeConfigurations(client);
  for (let start = 0; start < count; start += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - start);
    const body = Array.from({ length: size }, (_, index) => fleetEntry(start + index));
    expectOk(await client.send('PUT', '/v3/components', body));
  }
  const last = { ...fleetEntry(0), id: LAST_ID, error_count: 9 };
  expectOk(await client.send('PUT', '/v3/components', [last]));
}

export function expectOk({ status, text }: Reply): void {
  if (status !== 200) throw new Error(`status ${status}: ${text.slice(0, 500)}`);
}
