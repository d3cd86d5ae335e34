import type { SiteValues, Workspaces } from '../../../domain/sessions/ports.ts';

export interface VaultDependencies {
  workspaces: Pick<Workspaces, 'writePrivate' | 'removePrivate'> & { paths(id: string): { vaultPassword: string } };
  site: Pick<SiteValues, 'vaultPassword'>;
}

/**
 * Writes the password of Ansible vaults, as it is now, into the workspace of a session, or of whatever is run as a session is; answers the file that has it. Where the
 * installation has none the answer is null, and no older one stays.
 */
export async function placeVaultPassword(
  { workspaces, site }: VaultDependencies,
  sessionId: string,
): Promise<string | null> {
  const { vaultPassword: file } = workspaces.paths(sessionId);
  const password = await site.vaultPassword();
  if (password === null) await workspaces.removePrivate(file);
  else await workspaces.writePrivate(file, password);
  return password === null ? null : file;
}
