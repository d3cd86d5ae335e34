import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import { askJson, type JsonRequest } from '../http/ask-json.ts';
import type { SshKeygen } from './ssh-keygen.ts';

/** Names that CFS uses in Vault (cfs-flows 6.3). */
const SSH_MOUNT = 'ssh_user_certs_compute';
const SIGN_ROLE = 'compute';
const TRANSIT_KEY = 'cfstrust';
/** Secret that holds both halves of the exported key. */
export const SESSION_KEY_SECRET = 'cfstrust';
/** For one call, ms. */
const PATIENCE = 5_000;
/** Pause before the login that follows an error, ms. */
const PAUSE = 2_000;
const TRIES = 3;
const HOUR = 3_600;
/** In whose name it is stored. */
const ACTOR = 'trust';

export interface VaultSignerOptions {
  /** Base address of Vault. */
  url: string;
  /** Role of the login by Kubernetes. */
  role: string;
  /** File with the service account's token. Read for each login: Kubernetes renews it. */
  jwtFile: string;
  /** Certificates to trust instead of the platform's, PEM. */
  ca?: string | undefined;
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
export function createVaultSigner({ url, role, jwtFile, ca, keygen, secrets }: VaultSignerOptions) {
  const base = url.replace(/\/+$/, '');
  let token: string | null = null;

  const ask = async (request: Pick<JsonRequest, 'method' | 'body'> & { path: string; token?: string }) => {
    const { method, path, body } = request;
    const headers: Record<string, string> = request.token === undefined ? {} : { 'x-vault-token': request.token };
    let answer: { status: number; text: string };
    try {
      answer = await askJson({ method, url: `${base}/v1/${path}`, body, ca, headers, timeoutMs: PATIENCE });
    } catch (error) {
      throw unavailable(path, error instanceof Error ? error.message : String(error));
    }
    if (answer.status < 200 || answer.status > 299) {
      throw unavailable(path, `it answered ${answer.status}${errorsOf(answer.text)}`);
    }
    return answer.text;
  };

  const login = async (): Promise<string> => {
    const path = 'auth/kubernetes/login';
    const jwt = await readFile(jwtFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw unavailable(path, `the token of the service account cannot be read: ${jwtFile}: ${error.code}`);
    });
    const text = await ask({ method: 'POST', path, body: { role, jwt: jwt.trim() } });
    return wordAt(text, path, 'auth', 'client_token');
  };

  /** Calls with a token that is kept until something goes wrong. */
  const withToken = async <T>(work: (token: string) => Promise<T>): Promise<T> => {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        token ??= await login();
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
    if (typeof newest !== 'string') throw unavailable(path, 'its answer has no key');
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

function unavailable(path: string, reason: string) {
  return musterError('trust_unavailable', `Vault, ${path}: ${reason}`);
}

/** What Vault says is wrong. */
function errorsOf(text: string): string {
  const errors = valueAt(text, 'errors');
  return Array.isArray(errors) && errors.length > 0 ? `: ${errors.map(String).join(', ').slice(0, 300)}` : '';
}

function wordAt(text: string, path: string, ...names: string[]): string {
  const found = valueAt(text, ...names);
  if (typeof found !== 'string' || found === '') throw unavailable(path, `its answer has no ${names.join('.')}`);
  return found;
}

function valueAt(text: string, ...names: string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
