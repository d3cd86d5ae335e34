import type { Component } from '../../domain/components/schema.ts';
import { describeVectors } from './batcher-vectors.ts';
import type { BatcherWorld, GivenComponent } from './batcher-world.ts';
import { SimulatedBatcher } from './simulated-batcher.ts';

describeVectors(async () => simulatedWorld(new SimulatedBatcher()));

const layerOf = (index: number) => ({
  clone_url: 'https://git.example.test/one.git',
  playbook: `layer${index}.yml`,
  commit: String(index).repeat(40).slice(0, 40),
});

function simulatedWorld(batcher: SimulatedBatcher): BatcherWorld {
  const find = (id: string): Component => {
    const component = batcher.components.get(id);
    if (component === undefined) throw new Error(`no component ${id}`);
    return component;
  };
  return {
    async setOptions(options) {
      Object.assign(batcher.options, options);
    },
    async configure(name, layers) {
      batcher.configurations.set(
        name,
        Array.from({ length: layers }, (_, index) => layerOf(index)),
      );
    },
    async put(component) {
      batcher.components.set(component.id, storedOf(component));
    },
    async setEnabled(id, enabled) {
      find(id).enabled = enabled;
    },
    async reach(id) {
      const layers = batcher.layersOf(find(id)) ?? [];
      batcher.report(
        id,
        layers.map((layer) => ({ ...layer, status: 'applied', session_name: 'by hand' })),
        0,
      );
    },
    async pass(at) {
      batcher.pass(at * 1000);
    },
    async end(name, succeeded) {
      const session = batcher.sessions.find((one) => one.name === name);
      if (session === undefined) throw new Error(`no session ${name}`);
      session.status = 'complete';
      session.succeeded = succeeded;
    },
    async sessions() {
      return batcher.sessions.map(({ name, createdAt, deletedAt, configuration, limit, hosts, tags }) => ({
        name,
        at: createdAt / 1000,
        configuration,
        limit,
        hosts,
        tags,
        deletedAt: deletedAt === null ? null : deletedAt / 1000,
      }));
    },
    async component(id) {
      const { state, error_count } = find(id);
      return {
        state: state.map(({ playbook, status, session_name }) => ({
          layer: Number(playbook.slice('layer'.length, -'.yml'.length)),
          status,
          session: session_name,
        })),
        errors: error_count,
      };
    },
  };
}

function storedOf(given: GivenComponent): Component {
  return {
    id: given.id,
    desired_config: given.configuration ?? 'A',
    state: (given.state ?? []).map(([layer, status]) => ({
      ...layerOf(layer),
      status,
      session_name: 'earlier',
      last_updated: '2026-11-21T10:00:00Z',
    })),
    error_count: given.errors ?? 0,
    ...(given.retries === undefined ? {} : { retry_policy: given.retries }),
    enabled: given.enabled ?? true,
    tags: given.tags ?? {},
  };
}
