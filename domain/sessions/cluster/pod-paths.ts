/** Where things are in a session's pod (profile `restricted`); the image and the programs in it know them too. */
const INVENTORY = '/inventory';
const WORK = '/muster/work';

export const POD_PATHS = {
  inventory: INVENTORY,
  hosts: `${INVENTORY}/hosts`,
  ansibleConfig: `${INVENTORY}/ansible.cfg`,
  work: WORK,
  limit: `${WORK}/limit`,
  /** Begin of the paths of the files of extra variables; a number follows. */
  extraVars: `${WORK}/extra-vars-`,
  /** Copies with the rights that ssh demands of a key, on a volume in memory. */
  sshKey: `${INVENTORY}/ssh/id_ecdsa`,
  plainKey: `${INVENTORY}/ssh/plain_key`,
  imageKey: `${INVENTORY}/ssh/id_image`,
  controlPath: `${WORK}/cp`,
  vaultPassword: '/muster/session/vault_password',
  araCredentials: '/muster/session/ara_credentials',
  debugPlaybooks: '/opt/muster/ansible/debug',
} as const;

/** Folder of a layer's repository. */
export function podLayerDir(layer: number): string {
  return `${INVENTORY}/layer${layer}`;
}

/** Where a `compatible` runner image has the files of extra variables, of the session's Secret; the number is in their keys too. */
export const COMPATIBLE_EXTRA_VARS = '/muster/extra-vars';
export const EXTRA_VARS_KEY = 'extra-vars-';

/** Where a `compatible` runner image has the key of image sessions (cfs-flows 3.3). */
export const COMPATIBLE_IMAGE_KEY = '/etc/ansible/ssh/id_image';
