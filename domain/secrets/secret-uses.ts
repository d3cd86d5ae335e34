/** What the secrets of an installation are for, by their names. */

/** Beginnings of the names that Muster gives by itself, before the name of a webhook and the id of a session. */
export const WEBHOOK_SECRET_PREFIX = 'muster-webhook-';
export const IMAGE_KEY_PREFIX = 'muster-image-';
/** Holds the key that seals addresses of webhooks where secrets are in a cluster. */
export const ADDRESS_KEY_SECRET = 'muster-addresses';

/** Holds the key that seals kubeconfigs of member clusters and values of Secrets that are deployed to them. */
export const DEPLOYMENT_KEY_SECRET = 'muster-deployments';

export const SECRET_USE_KINDS = ['source', 'configuration', 'option', 'webhook', 'session', 'built-in'] as const;
export type SecretUseKind = (typeof SECRET_USE_KINDS)[number];

/** One use of a secret. */
export interface SecretUse {
  kind: SecretUseKind;
  /** Name of the record, or what Muster itself does with the secret. */
  name: string;
}

/** Secrets that Muster itself looks for, and what for. */
const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ['muster-ssh', 'key for ssh: clones by ssh, and hosts'],
  ['muster-ssh-ca', 'authority that signs the certificates for hosts'],
  ['cfstrustcertificate', 'certificate for hosts'],
  ['muster-idempotency', 'key that seals answers to requests that may come again'],
  [ADDRESS_KEY_SECRET, 'key that seals the addresses of webhooks'],
  [DEPLOYMENT_KEY_SECRET, 'key that seals kubeconfigs of member clusters'],
  ['cfstrust', 'key pair for hosts, where Vault signs'],
  ['ansible-vault-password', 'password of Ansible vaults'],
]);

/** What Muster itself uses a secret of this name for, apart from the credentials of repositories. */
export function builtInUses(name: string): SecretUse[] {
  const text = BUILT_IN.get(name);
  return text === undefined ? [] : [{ kind: 'built-in', name: text }];
}

/** What follows the beginning in a secret's name; null when it begins otherwise. */
export function ownerOfSecret(name: string, prefix: string): string | null {
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

/** The uses in one sentence, not more than a reader takes in. */
export function usesInWords(uses: readonly SecretUse[]): string {
  const words = uses.slice(0, 5).map(({ kind, name }) => (kind === 'built-in' ? name : `${kind} ${name}`));
  return uses.length > 5 ? `${words.join(', ')} and ${uses.length - 5} more` : words.join(', ');
}
