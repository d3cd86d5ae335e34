/** Ports of the shells of image jobs. */

/** A port is left alone for so long after its job, ms: clients keep connections and keys of hosts by it. */
export const PORT_REST_MS = 10 * 60_000;

/** Ports of a machine: first and last, and since when one that a job had must have rested. */
export interface ShellPorts {
  from: number;
  to: number;
  freeSince: Date;
}

/** The ports that a machine says it has, at a time; null where it says none, as a former release does. */
export function shellPorts(
  { first_port: from, last_port: to }: { first_port: number | null; last_port: number | null },
  now: Date,
): ShellPorts | null {
  return from === null || to === null ? null : { from, to, freeSince: new Date(now.getTime() - PORT_REST_MS) };
}

/** Ports that are free, and that would have to be for a job to get one. */
export interface PortsLacking {
  free: number;
  needed: number;
}

/** Says that a job finds no port, for people. */
export function noPortFree({ from, to }: Pick<ShellPorts, 'from' | 'to'>): string {
  return `no port of ${from} to ${to} is free (MUSTER_IMAGE_PORTS); one rests for ${PORT_REST_MS / 60_000} min after its job`;
}

/** Says that a job may have no port yet though some are free: others are to have them first, or its set needs more of them. */
export function tooFewPorts(range: Pick<ShellPorts, 'from' | 'to'>, { free, needed }: PortsLacking): string {
  if (free === 0) return noPortFree(range);
  return (
    `of the ports ${range.from} to ${range.to} ${free} are free (MUSTER_IMAGE_PORTS), and ${needed} are needed for it, those that are to be open ` +
    `with it and those before it; one rests for ${PORT_REST_MS / 60_000} min after its job`
  );
}
