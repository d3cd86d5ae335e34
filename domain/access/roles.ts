/** Who may do what, as plain rules; which role a route needs is said where the route is declared. */

/** Roles of people and programs, the strongest first. `node` stands beside them: it reports its own component. */
export const ROLES = ['admin', 'operator', 'reader', 'node'] as const;
export type Role = (typeof ROLES)[number];

/** Who asks, once that is known. */
export interface Caller {
  /** As it is stored with what the caller writes: `token/<name>`, `oidc/<user>`. */
  actor: string;
  role: Role;
  /** The component that a caller of role `node` speaks for; null for all others. */
  component: string | null;
  /** When that ends of itself; null: it does not. Absent where it is not known. */
  expiresAt?: Date | null;
}

/** What a route asks of a caller. */
export interface RouteAccess {
  /** Weakest role that may use it; `public` needs no caller at all. */
  least: 'public' | Exclude<Role, 'node'>;
  /** Whether a node may use it for its own component. */
  ownComponent?: true;
}

const STRENGTH: Record<Role, number> = { admin: 3, operator: 2, reader: 1, node: 0 };

/**
 * Why the caller may not use a route, as a sentence; null when it may.
 * @param component id in the route's path, where it has one
 */
export function refusal(access: RouteAccess, caller: Caller, component: string | undefined): string | null {
  if (access.least === 'public' || STRENGTH[caller.role] >= STRENGTH[access.least]) return null;
  if (caller.role !== 'node') {
    const command = `./muster token create --role ${access.least}`;
    return `Your token has role ${caller.role}, this needs ${access.least}: \`${command}\` as admin`;
  }
  if (access.ownComponent && caller.component !== null && component === caller.component) return null;
  return `A token of the role node may only read and report its own component '${caller.component ?? ''}'`;
}

/**
 * Members that a node may write of its component, in the words of both versions. A node says what it reached and that it is
 * there; what it is to become (`desired_config`), how it is reached (`tags`) and how often it is tried again are not its.
 */
const NODE_MEMBERS = new Set([
  'state',
  'state_append',
  'stateAppend',
  'enabled',
  'error_count',
  'errorCount',
  'muster',
]);
/** Of the members that CFS does not know. */
const NODE_MUSTER_MEMBERS = new Set(['boot']);

/** The members of a patch that a node may not write. Anything but an object is left to the schema. */
export function membersDeniedToNode(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  const { muster } = body as { muster?: unknown };
  const inner = typeof muster === 'object' && muster !== null ? Object.keys(muster) : [];
  return [
    ...Object.keys(body).filter((member) => !NODE_MEMBERS.has(member)),
    ...inner.filter((member) => !NODE_MUSTER_MEMBERS.has(member)).map((member) => `muster.${member}`),
  ];
}
