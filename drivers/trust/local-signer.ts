import type { SshKeygen } from './ssh-keygen.ts';

/** Secret that holds the authority's key pair. */
export const AUTHORITY_SECRET = 'muster-ssh-ca';
/** In whose name it is stored. */
const ACTOR = 'trust';

interface KeyPair {
  privateKey: string;
  publicKey: string;
}

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
  /** Public halves of the last keys that were asked for; a key changes when somebody sets its secret anew. */
  const session = rememberPublicHalf(keygen);
  const authority = rememberPublicHalf(keygen);

  const authorityKey = async (): Promise<KeyPair> => {
    const found = await secrets.get(AUTHORITY_SECRET);
    const pair = found?.private
      ? await authority(found.private.endsWith('\n') ? found.private : `${found.private}\n`)
      : await keygen.makeKeyPair('muster-ssh-ca');
    if (found?.public !== pair.publicKey) {
      await secrets.putAll(AUTHORITY_SECRET, { private: pair.privateKey, public: pair.publicKey }, ACTOR);
    }
    return pair;
  };

  return {
    hasOwnKey: false,
    authority: async (): Promise<string> => (await authorityKey()).publicKey,
    sessionKey: async (): Promise<KeyPair> => session(await sshKey()),
    sign: async (request: {
      publicKey: string;
      keyId: string;
      principals: readonly string[];
      ttlSeconds: number;
    }): Promise<string> => keygen.signUserKey({ ...request, authorityKey: (await authorityKey()).privateKey }),
  };
}

function rememberPublicHalf(keygen: SshKeygen): (privateKey: string) => Promise<KeyPair> {
  let last: KeyPair | null = null;
  return async (privateKey) => {
    if (last?.privateKey !== privateKey) last = { privateKey, publicKey: await keygen.publicKeyOf(privateKey) };
    return last;
  };
}
