/** The definitions of the repository `muster`, which are there without a step and cannot be changed. None of them executes anything. */
import type { Definition } from './definition-schema.ts';
import { COMPONENT_LOCATION } from './own-inputs.ts';
import { OWN_ID, readDefinition } from './read-definition.ts';

export const SHIPPED_REPOSITORY = 'muster';

const METAS: Readonly<Record<string, object>> = {
  /** A component of Muster: what is connected to it runs there, as a session would. */
  component: {
    version: '1.0.0',
    input: { id: { schema: 'str!' }, location_id: { schema: 'str!', value: COMPONENT_LOCATION } },
  },
  /** A machine that is reached by its address. */
  node: {
    version: '1.0.0',
    input: {
      ip: { schema: 'str!' },
      name: { schema: 'str', value: '' },
      location_id: { schema: 'str!', value: OWN_ID },
    },
  },
  /** How a node is logged in to. Without the key of its host no action starts. */
  transport_ssh: {
    version: '1.0.0',
    input: {
      user: { schema: 'str!' },
      port: { schema: 'int!', value: 22 },
      key: { schema: 'str', secret: true },
      host_key: { schema: 'str', value: '' },
      become: { schema: 'bool!', value: false },
      transports_id: { schema: 'str!', value: OWN_ID },
    },
  },
  /** A resource that only holds events. */
  none: { version: '1.0.0' },
};

/** Definitions of the shipped repository by name. */
export const SHIPPED_DEFINITIONS: ReadonlyMap<string, Definition> = new Map(
  Object.entries(METAS).map(([name, meta]) => [name, readDefinition(meta, [], name)]),
);
