import { openVault, type VaultOptions } from '../vault/vault-client.ts';

export interface TenantVaultOptions extends VaultOptions {
  /** Role of a tenant's login by Kubernetes, with `{tenant}` where its name goes. */
  role: string;
}

/** Where playbooks read the secrets of the tenant whose configuration they apply (cfs-flows 1.3). */
export function openTenantVault({ role, ...vault }: TenantVaultOptions) {
  const { login } = openVault(vault, (detail) => new Error(detail));
  return {
    address: vault.url,
    /** A token for what the tenant may read. Throws an Error that says why there is none. */
    tokenOf: (tenant: string): Promise<string> => login(role.replaceAll('{tenant}', () => tenant)),
  };
}
