/** Files by which an action logs in at its target: of a transport with its key, or of this installation as sessions have them. */
import type { ActionTarget } from '../../control/propagation/find-target.ts';
import { knownHostsText } from '../../domain/propagation/action-login.ts';
import type { ActionLogins } from '../../domain/propagation/ports.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';
import { type IdentityDependencies, writeIdentity } from '../sessions/machine/host-identity.ts';

export interface LoginDependencies extends Pick<IdentityDependencies, 'trust'> {
  site: Pick<SiteValues, 'ssh'>;
  logins: ActionLogins;
}

type NodeTarget = Extract<ActionTarget, { kind: 'node' }>;

/** Whether a target is logged in to with the key and the certificate of the installation. */
export function usesIdentity(target: ActionTarget): boolean {
  return target.kind === 'component' || (target.kind === 'node' && target.key === null);
}

/** Writes what ssh needs for a target. Throws `validation_failed` for a node without the key of its host. */
export async function writeLogin(deps: LoginDependencies, target: ActionTarget, runId: string): Promise<void> {
  if (usesIdentity(target)) await writeIdentity(identityOf(deps), runId);
  if (target.kind === 'node') await writeTransport(deps.logins, target, runId);
}

async function writeTransport(logins: ActionLogins, { transport, key }: NodeTarget, runId: string): Promise<void> {
  const paths = logins.paths(runId);
  await logins.writePrivate(paths.knownHosts, knownHostsText(transport.hostKey));
  if (key !== null) await logins.writePrivate(paths.ownKey, key.endsWith('\n') ? key : `${key}\n`);
}

/** What renews the key and the certificate of the installation in the folder of a run. */
export function identityOf({ logins, site, trust }: LoginDependencies): IdentityDependencies {
  return { workspaces: logins, site, trust };
}
