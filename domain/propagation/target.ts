/** Where an action runs: the key by which actions on one machine keep out of each other's way. */

export const LOCALHOST = 'localhost';
const COMPONENT = /^component:\S+$/;
const SSH_PORT = 22;

type Inputs = Readonly<Record<string, unknown>>;

/** The values of the resources that are a node or a transport, by the id that they hand on. */
export interface Places {
  nodes: ReadonlyMap<string, Inputs>;
  transports: ReadonlyMap<string, Inputs>;
}

/** Whether a location names its machine by itself. */
export const isPlain = (location: string): boolean => location === LOCALHOST || COMPONENT.test(location);

/**
 * Returns the key of the target of a resource: `component:<id>`, `localhost`, or `<ip>:<port>` of the node that its location names; null
 * for no location, undefined for a location that leads nowhere.
 */
export function targetOf({ location_id, transports_id }: Inputs, places: Places): string | null | undefined {
  if (typeof location_id !== 'string' || location_id === '') return null;
  if (isPlain(location_id)) return location_id;
  const ip = places.nodes.get(location_id)?.ip;
  if (typeof ip !== 'string' || ip === '') return undefined;
  const port = typeof transports_id === 'string' ? places.transports.get(transports_id)?.port : undefined;
  return `${ip}:${typeof port === 'number' ? port : SSH_PORT}`;
}
