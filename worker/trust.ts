import type { Environment } from '../config/environment.ts';
import type { SiteValues } from '../control/configurations/site-values.ts';
import { createTrust } from '../control/trust/trust.ts';
import type { SecretStore } from '../domain/secrets/ports.ts';
import { openBootMetadata } from '../drivers/trust/boot-metadata.ts';
import { createLocalSigner } from '../drivers/trust/local-signer.ts';
import { openSshKeygen } from '../drivers/trust/ssh-keygen.ts';
import { createVaultSigner } from '../drivers/trust/vault-signer.ts';
import type { Db } from '../store/connection/database.ts';

export interface TrustParts {
  db: Parameters<typeof createTrust>[0]['db'] & Db;
  secrets: SecretStore;
  site: Pick<SiteValues, 'ssh'>;
  /** Certificates to trust besides the public ones, PEM. */
  ca: string | undefined;
  tempDir: string;
  searchPath: string;
}

/** Trust as the settings want it: Vault where one is named, else an authority of this installation. */
export function openTrust(env: Environment, { db, secrets, site, ca, tempDir, searchPath }: TrustParts) {
  const keygen = openSshKeygen({ tempDir, searchPath });
  const { MUSTER_VAULT_URL: vault, MUSTER_BOOT_METADATA_URL: metadata } = env;
  return createTrust({
    db,
    secrets,
    signer:
      vault === undefined
        ? createLocalSigner({ keygen, secrets, sshKey: async () => (await site.ssh()).privateKey })
        : createVaultSigner({
            url: vault,
            role: env.MUSTER_VAULT_ROLE,
            jwtFile: env.MUSTER_VAULT_JWT_FILE,
            ca,
            keygen,
            secrets,
          }),
    principals: env.MUSTER_TRUST_PRINCIPALS,
    ttlSeconds: env.MUSTER_TRUST_TTL,
    metadata: metadata === undefined ? undefined : openBootMetadata({ url: metadata, ca }),
    clock: () => new Date(),
  });
}
