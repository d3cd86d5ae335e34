import type { TenantVault } from '../../../domain/sessions/ports.ts';
import type { Snapshot } from '../../../domain/sessions/schema.ts';
import { messageOf } from '../../../domain/text/message-of.ts';

export interface TenantLogin {
  /** Empty when there is none. */
  token: string;
  /** What playbooks find it by; no variable without a token. */
  environment: Record<string, string>;
  warnings: string[];
}

const NONE: TenantLogin = { token: '', environment: {}, warnings: [] };

/**
 * The login of the configuration's tenant at its secret store, for playbooks that read secrets there. It is looked up only for a
 * configuration with a tenant, where there is such a store; a failure is a warning, and the playbook goes without (cfs-flows 1.3).
 */
export async function tenantLogin(vault: TenantVault | undefined, snapshot: Snapshot): Promise<TenantLogin> {
  const { tenant_name: tenant } = snapshot;
  if (tenant === undefined || vault === undefined) return NONE;
  try {
    const token = await vault.tokenOf(tenant);
    return { token, environment: { VAULT_ADDR: vault.address, VAULT_TOKEN: token }, warnings: [] };
  } catch (error) {
    const reason = messageOf(error);
    return { ...NONE, warnings: [`the session has no VAULT_TOKEN of tenant ${tenant}: ${reason}`] };
  }
}
