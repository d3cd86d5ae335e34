/** Which hosts a session's limit means, and which of them its inventory lacks: asked of Ansible where the records do not tell. */

import { type LimitHosts, limitHosts } from '../../../domain/components/inventory/inventory-tree.ts';
import { maskAddress } from '../../../domain/configurations/address-secrets.ts';
import { musterError } from '../../../domain/errors.ts';
import { runEnvironment } from '../../../domain/runs/run-environment.ts';
import { effectiveLimit } from '../../../domain/sessions/ansible-arguments.ts';
import type { AnsibleHosts, AnsibleWorkspace, SiteValues, Workspaces } from '../../../domain/sessions/ports.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface LimitDependencies {
  workspaces: Workspaces;
  site: SiteValues;
  ansibleHosts: AnsibleHosts;
  /** PATH, HOME and the like for Ansible. */
  baseEnvironment: Record<string, string>;
}

/** What the session's limit is in the whole inventory, as far as it names hosts. */
export interface SettledLimit {
  /** What its names are; null for a pattern. */
  names: LimitHosts | null;
  /** Whether Ansible was asked, so that additional inventory counts too. */
  isWhole: boolean;
}

/**
 * What the names of the session's limit are: of a plain limit that a person wrote as far as records tell, but for absent ones, which
 * additional inventory may have; of hosts that Muster names, in all of the inventory.
 */
export async function settleLimit(
  deps: LimitDependencies,
  session: SessionRow,
  generated: LimitHosts | null,
  signal: AbortSignal,
): Promise<SettledLimit> {
  // A built-in debugging playbook may run where there is no host at all.
  const isOfHosts = session.limit_of_hosts && session.snapshot.debug_playbook === null;
  const hasMore = session.snapshot.additional_inventory !== null;
  if (generated !== null && !hasMore) return { names: isOfHosts ? own(session, generated) : generated, isWhole: true };
  const named = isOfHosts ? (session.ansible_limit ?? '').split(',').filter((name) => name !== '') : null;
  if (named === null && (generated === null || generated.absent.length === 0))
    return { names: generated, isWhole: false };
  const wanted = named ?? generated?.absent ?? [];
  const known = await deps.ansibleHosts.names(wanted, await ansibleWorkspace(deps, session), signal);
  if (named !== null) return { names: own(session, limitHosts(known, named)), isWhole: true };
  const isAbsent = (name: string) => !known.hosts.has(name) && !known.groups.has(name);
  return { names: generated && { ...generated, absent: generated.absent.filter(isAbsent) }, isWhole: false };
}

/** Names by which Ansible knows the machine that it runs on, though no inventory has them. */
const LOCAL = new Set(['localhost', '127.0.0.1', '::1']);

/** Hosts of a retry may be the machine itself: a play on localhost failed. A component of that name is a host like others. */
function own({ retry_of: retryOf }: SessionRow, names: LimitHosts): LimitHosts {
  if (retryOf === null) return names;
  const [here, absent] = [
    names.absent.filter((name) => LOCAL.has(name)),
    names.absent.filter((name) => !LOCAL.has(name)),
  ];
  return { ...names, hosts: [...names.hosts, ...here], absent };
}

/** The hosts that the session's limit matches in the inventory that was written. */
export async function matchedHosts(
  deps: LimitDependencies,
  session: SessionRow,
  { names, isWhole }: SettledLimit,
  signal: AbortSignal,
): Promise<string[]> {
  const { ansible_limit, target, limit_of_hosts: isOfHosts } = session;
  if (names !== null && isWhole && (isOfHosts || names.groups.length === 0)) return names.hosts;
  const text = effectiveLimit({ limit: ansible_limit, target });
  return deps.ansibleHosts.matching(text, await ansibleWorkspace(deps, session), signal);
}

/**
 * Of a session whose limit Muster made: throws unless the limit that its runs get matches just hosts that it names. Ansible is asked only
 * where a name was also that of a group.
 */
export async function checkOwnHosts(
  deps: LimitDependencies,
  session: SessionRow,
  { hosts, groups }: LimitHosts,
  signal: AbortSignal,
): Promise<void> {
  if (groups.length === 0) return;
  const matched = await deps.ansibleHosts.matching(hosts.join(','), await ansibleWorkspace(deps, session), signal);
  const own = new Set(hosts);
  const strange = matched.filter((host) => !own.has(host));
  if (strange.length === 0) return;
  const shown = strange.slice(0, 5).join(', ');
  throw musterError('inventory_invalid', `The limit of the session matches hosts that it does not name: ${shown}`);
}

/** As the session's layers see it, so that the answer is theirs. */
async function ansibleWorkspace(deps: LimitDependencies, session: SessionRow): Promise<AnsibleWorkspace> {
  const { workspaces, site } = deps;
  const { snapshot } = session;
  const paths = workspaces.paths(session.id);
  const layer = snapshot.layers[0];
  const repositories = [...snapshot.layers, ...(snapshot.additional_inventory ? [snapshot.additional_inventory] : [])];
  const names = new Set(repositories.flatMap(({ source }) => (source === null ? [] : [source])));
  const sources = await Promise.all([...names].map(site.source));
  const env = runEnvironment({
    base: deps.baseEnvironment,
    sessionName: session.name,
    layer: layer?.index ?? 0,
    cloneUrl: maskAddress(layer?.url ?? ''),
    playbook: layer?.playbook ?? '',
    commit: layer?.commit ?? '',
    targetDefinition: session.target.definition,
    recordsState: false,
    paths: {
      workspace: paths.dir,
      ansibleConfig: paths.ansibleConfig,
      inventory: paths.hosts,
      roles: `${workspaces.layerDir(session.id, layer?.index ?? 0)}/roles`,
      sshKey: paths.sshKey,
      controlPath: paths.controlPath,
      vaultPassword: await placeVaultPassword(deps, session.id),
    },
  });
  return { cwd: paths.dir, env, masks: await site.masks(sources.filter((source) => source !== null)) };
}
