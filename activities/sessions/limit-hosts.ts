/** Which hosts a session's limit means, and which of them its inventory lacks: asked of Ansible where the records do not tell. */
import type { SessionRow } from '../../control/database.ts';
import type { LimitHosts } from '../../domain/components/inventory-tree.ts';
import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import { effectiveLimit } from '../../domain/sessions/ansible-arguments.ts';
import { runEnvironment } from '../../domain/sessions/run-environment.ts';
import type { AnsibleHosts, AnsibleWorkspace, SiteValues, Workspaces } from './ports.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface LimitDependencies {
  workspaces: Workspaces;
  site: SiteValues;
  ansibleHosts: AnsibleHosts;
  /** PATH, HOME and the like for Ansible. */
  baseEnvironment: Record<string, string>;
}

/** Hosts of a plain limit that the inventory does not have, and which are no groups either; null for another limit. */
export async function absentHosts(
  deps: LimitDependencies,
  session: SessionRow,
  limit: LimitHosts | null,
  signal: AbortSignal,
): Promise<string[] | null> {
  if (limit === null) return null;
  if (limit.absent.length === 0 || session.snapshot.additional_inventory === null) return limit.absent;
  const names = await deps.ansibleHosts.names(await ansibleWorkspace(deps, session), signal);
  return limit.absent.filter((name) => !names.has(name));
}

/** The hosts that the session's limit matches in the inventory that was written. */
export async function matchedHosts(
  deps: LimitDependencies,
  session: SessionRow,
  limit: LimitHosts | null,
  signal: AbortSignal,
): Promise<string[]> {
  const { ansible_limit, target, snapshot } = session;
  // Additional inventory may have a group of a host's name.
  if (limit !== null && !limit.hasGroup && snapshot.additional_inventory === null) return limit.hosts;
  const text = effectiveLimit({ limit: ansible_limit, target });
  return deps.ansibleHosts.matching(text, await ansibleWorkspace(deps, session), signal);
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
