import type { SshKeygen } from './ssh-keygen.ts';

/** Secret that holds the authority's key pair. */
export const AUTHORITY_SECRET = 'muster-ssh-ca';
/** In whose name it is stored. */
const ACTOR = 'trust';

export interface LocalSignerOptions {
  keygen: SshKeygen;
  secrets: {
    get(name: string): Promise<Record<string, string> | null>;
    putAll(name: string, values: Record<string, string>, actor: string): Promise<void>;
  };
  /** The installation's own private key for ssh, with which sessions log in. */
  sshKey(): Promise<string>;
}

/**
 * A certificate authority of this installation: its private key is a secret that is read for each signature and reaches
 * ssh-keygen alone. Callers keep two processes from making the first one at once.
 */
export function createLocalSigner({ keygen, secrets, sshKey }: LocalSignerOptions) {
  /** The last key that was asked for; it changes when somebody sets the secret anew. */
  let last: { privateKey: string; publicKey: string } | null = null;

  const keyPair = async (): Promise<{ privateKey: string; publicKey: string }> => {
    const found = await secrets.get(AUTHORITY_SECRET);
    if (found?.private && found.public) return { privateKey: found.private, publicKey: found.public };
    const made = await keygen.makeKeyPair('muster-ssh-ca');
    await secrets.putAll(AUTHORITY_SECRET, { private: made.privateKey, public: made.publicKey }, ACTOR);
    return made;
  };

  return {
    hasOwnKey: false,
    authority: async (): Promise<string> => (await keyPair()).publicKey,
    sessionKey: async (): Promise<{ privateKey: string; publicKey: string }> => {
      const privateKey = await sshKey();
      if (last?.privateKey !== privateKey) last = { privateKey, publicKey: await keygen.publicKeyOf(privateKey) };
      return last;
    },
    sign: async (request: {
      publicKey: string;
      keyId: string;
      principals: readonly string[];
      ttlSeconds: number;
    }): Promise<string> => keygen.signUserKey({ ...request, authorityKey: (await keyPair()).privateKey }),
  };
}
