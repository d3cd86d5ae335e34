import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import { openVault, type VaultOptions, valueAt } from '../vault/vault-client.ts';
import type { SshKeygen } from './ssh-keygen.ts';

/** Names that CFS uses in Vault (cfs-flows 6.3). */
const SSH_MOUNT = 'ssh_user_certs_compute';
const SIGN_ROLE = 'compute';
const TRANSIT_KEY = 'cfstrust';
/** Secret that holds both halves of the exported key. */
const SESSION_KEY_SECRET = 'cfstrust';
/** Pause before the login that follows an error, ms. */
const PAUSE = 2_000;
const TRIES = 3;
const HOUR = 3_600;
/** In whose name it is stored. */
const ACTOR = 'trust';

export interface VaultSignerOptions extends VaultOptions {
  /** Role of the login by Kubernetes. */
  role: string;
  keygen: Pick<SshKeygen, 'publicKeyOf'>;
  secrets: {
    get(name: string): Promise<Record<string, string> | null>;
    putAll(name: string, values: Record<string, string>, actor: string): Promise<void>;
  };
}

/**
 * Vault as the certificate authority: its ssh engine signs an exportable key of its transit engine. After any error there is a
 * new login 2 s later, three tries in all; then `trust_unavailable` with Vault's own words.
 */
export function createVaultSigner({ role, keygen, secrets, ...vault }: VaultSignerOptions) {
  const { ask, login, wordAt, wrong } = openVault(vault, (detail) => musterError('trust_unavailable', detail));
  let token: string | null = null;

  /** Calls with a token that is kept until something goes wrong. */
  const withToken = async <T>(work: (token: string) => Promise<T>): Promise<T> => {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        token ??= await login(role);
        return await work(token);
      } catch (error) {
        token = null;
        if (left === 0) throw error;
        await delay(PAUSE);
      }
    }
  };

  /** Makes the key, or finds it, and keeps both halves as a secret. */
  const exportKey = async (): Promise<{ privateKey: string; publicKey: string }> => {
    const path = `transit/export/signing-key/${TRANSIT_KEY}`;
    const text = await withToken(async (valid) => {
      const body = { type: 'ecdsa-p384', exportable: true };
      await ask({ method: 'POST', path: `transit/keys/${TRANSIT_KEY}`, body, token: valid });
      return ask({ method: 'GET', path, token: valid });
    });
    const keys = valueAt(text, 'data', 'keys');
    const versions = typeof keys === 'object' && keys !== null ? Object.entries(keys) : [];
    const newest = versions.sort(([one], [other]) => Number(other) - Number(one))[0]?.[1];
    if (typeof newest !== 'string') throw wrong(path, 'its answer has no key');
    const privateKey = newest.endsWith('\n') ? newest : `${newest}\n`;
    const publicKey = await keygen.publicKeyOf(privateKey);
    const kept = await secrets.get(SESSION_KEY_SECRET);
    if (kept?.private !== privateKey || kept.public !== publicKey) {
      await secrets.putAll(SESSION_KEY_SECRET, { public: publicKey, private: privateKey }, ACTOR);
    }
    return { privateKey, publicKey };
  };

  return {
    hasOwnKey: true,
    authority: async (): Promise<string> => {
      await exportKey();
      // This one asks for no token.
      return withToken(async () => (await ask({ method: 'GET', path: `${SSH_MOUNT}/public_key` })).trim());
    },
    sessionKey: async (): Promise<{ privateKey: string; publicKey: string }> => {
      const kept = await secrets.get(SESSION_KEY_SECRET);
      if (kept?.private && kept.public) return { privateKey: kept.private, publicKey: kept.public };
      return exportKey();
    },
    sign: async (request: {
      publicKey: string;
      keyId: string;
      principals: readonly string[];
      ttlSeconds: number;
    }): Promise<string> => {
      const path = `${SSH_MOUNT}/sign/${SIGN_ROLE}`;
      const { ttlSeconds } = request;
      const body = {
        public_key: request.publicKey,
        valid_principals: request.principals.join(','),
        key_id: request.keyId,
        ttl: ttlSeconds % HOUR === 0 ? `${ttlSeconds / HOUR}h` : `${ttlSeconds}s`,
      };
      const text = await withToken((valid) => ask({ method: 'POST', path, body, token: valid }));
      return wordAt(text, path, 'data', 'signed_key').trim();
    },
  };
}
