import { changeSecretKey } from '../../../control/secrets/secret-key.ts';
import { createSecretUsers } from '../../../control/service/secret-users.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

export type SecretApi = ReturnType<typeof secretApi>;

/** Returns what the routes of secrets work with. */
export function secretApi({ db, site }: Pick<ApiShared, 'db' | 'site'>) {
  return {
    secrets: site.secrets,
    secretUsers: createSecretUsers({ db, secrets: site.secrets }),
    /** Makes a new key of the secrets. Returns how many values it has encrypted. */
    changeSecretKey: () => changeSecretKey(db, site.cipher),
  };
}
