/** The site's named values as both processes read them: secrets, ConfigMaps, the CA that is trusted besides the public certificates. */
import { readFile } from 'node:fs/promises';
import type { dataPaths } from '../../config/data-paths.ts';
import type { Environment } from '../../config/environment.ts';
import { createSiteValues, DEFAULT_NAMESPACE } from '../../control/configurations/site-values.ts';
import { recordedSecrets } from '../../control/secrets/recorded-secrets.ts';
import { openConfigMaps } from '../../drivers/secrets/config-maps.ts';
import { kubernetesConfigMaps, kubernetesSecrets } from '../../drivers/secrets/kubernetes.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { openSshFiles } from '../../drivers/secrets/ssh-files.ts';
import type { Db } from '../../store/connection/database.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';

export type Site = Awaited<ReturnType<typeof openSite>>;

/** Opens the site. `cipher` is null where a cluster keeps the secrets; no key is made here, see `ensureSecretKey`. */
export async function openSite(env: Environment, db: Db, paths: ReturnType<typeof dataPaths>) {
  const cipher = env.MUSTER_SECRETS === 'kubernetes' ? null : openSecretCipher(paths.secretKey, { make: false });
  const secrets =
    cipher === null
      ? recordedSecrets(db, await kubernetesSecrets(env.MUSTER_SECRETS_NAMESPACE))
      : createSecretStore(db, cipher, () => new Date());
  const shippedConfigMaps = openConfigMaps(paths.configMaps);
  const configMaps =
    env.MUSTER_CONFIGMAPS === 'kubernetes'
      ? await kubernetesConfigMaps(env.MUSTER_SECRETS_NAMESPACE, DEFAULT_NAMESPACE, shippedConfigMaps)
      : shippedConfigMaps;
  const platformCa = env.MUSTER_CA_FILE ? await readFile(env.MUSTER_CA_FILE, 'utf8') : undefined;
  const values = createSiteValues({ db, secrets, configMaps, sshFiles: openSshFiles(paths.ssh), platformCa });
  return { cipher, secrets, configMaps, platformCa: platformCa || undefined, values };
}

/** Whether this process signs what goes through Temporal. */
export function signsMessages(env: Environment): boolean {
  return env.MUSTER_MAC_KEY_FILE !== undefined || env.MUSTER_SECRETS === 'database';
}
