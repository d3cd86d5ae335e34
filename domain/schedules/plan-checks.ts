import { isPlainHostName } from '../components/host-names.ts';
import { SESSION_NAME_MAX } from '../sessions/schema.ts';
import type { LeftOut } from './drift-check-schema.ts';

/** Components of one check session: so many hosts Ansible keeps busy at once without filling the machine. */
export const CHECK_SIZE = 100;
/** Components that an answer names of those that are left out. */
const NAMED = 20;

/** What is looked at of a component. */
interface Candidate {
  id: string;
  desired_config: string;
}

export interface PlannedCheck {
  name: string;
  configuration: string;
  hosts: string[];
}

export interface CheckPlan {
  checks: PlannedCheck[];
  leftOut: LeftOut[];
}

/**
 * The sessions that check these components: per desired configuration, by name, as many of at most `size` hosts as it takes,
 * in the order of the components. The names follow from `key` (12 hexadecimal digits) alone. Left out is what desires
 * nothing, and what no inventory can name as a host.
 */
export function planChecks(components: Iterable<Candidate>, key: string, size = CHECK_SIZE): CheckPlan {
  const byConfiguration = new Map<string, string[]>();
  const leftOut = new Map<string, LeftOut>();
  for (const { id, desired_config: configuration } of components) {
    const reason = whyNot(id, configuration);
    if (reason !== null) {
      addLeftOut(leftOut, reason, [id]);
      continue;
    }
    const hosts = byConfiguration.get(configuration);
    if (hosts === undefined) byConfiguration.set(configuration, [id]);
    else hosts.push(id);
  }
  const checks: PlannedCheck[] = [];
  for (const configuration of [...byConfiguration.keys()].sort()) {
    const hosts = byConfiguration.get(configuration) ?? [];
    for (let start = 0; start < hosts.length; start += size) {
      const name = checkName(configuration, key, checks.length + 1);
      checks.push({ name, configuration, hosts: hosts.slice(start, start + size) });
    }
  }
  return { checks, leftOut: [...leftOut.values()] };
}

function whyNot(id: string, configuration: string): string | null {
  if (configuration === '') return 'no configuration is desired';
  return isPlainHostName(id) ? null : 'no host can have this name';
}

/** Counts components under their reason. */
export function addLeftOut(leftOut: Map<string, LeftOut>, reason: string, ids: readonly string[]): void {
  const known = leftOut.get(reason) ?? { reason, components: 0, first: [] };
  known.components += ids.length;
  known.first.push(...ids.slice(0, NAMED - known.first.length));
  leftOut.set(reason, known);
}

/** `check-<start of the configuration's name>-<key>-<number>`, a valid session name. */
export function checkName(configuration: string, key: string, number: number): string {
  const end = `-${key}-${number}`;
  const stem = configuration
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SESSION_NAME_MAX - 'check-'.length - end.length)
    .replace(/^-+|-+$/g, '');
  return `check${stem === '' ? '' : `-${stem}`}${end}`;
}
