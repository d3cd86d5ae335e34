/** The key pairs with which sessions log in at the images that they customise; kept as long as they work. */

import type { SecretStore } from '../../../domain/secrets/ports.ts';
import { imageKeyName, imageKeySecret } from '../../../domain/sessions/images/image-names.ts';

export interface ImageKeyPair {
  privateKey: string;
  /** Line as for authorized_keys. */
  publicKey: string;
}

export type ImageKeys = ReturnType<typeof createImageKeys>;

/** In whose name the keys are stored. */
const ACTOR = 'image-session';

/** Keys as secrets that are named after their session's id. */
export function createImageKeys(deps: { secrets: SecretStore; makeKeyPair(comment: string): Promise<ImageKeyPair> }) {
  const { secrets, makeKeyPair } = deps;

  const read = async (sessionId: string): Promise<ImageKeyPair | null> => {
    const secret = await secrets.get(imageKeySecret(sessionId));
    if (secret?.private === undefined || secret.public === undefined) return null;
    return { privateKey: secret.private, publicKey: secret.public };
  };

  return {
    /** The pair of the session, or null when there is none (any more). */
    read,
    /** The pair of the session, made when it is first asked for. */
    async ensure(session: { id: string; name: string }): Promise<ImageKeyPair> {
      const found = await read(session.id);
      if (found !== null) return found;
      const made = await makeKeyPair(imageKeyName(session.name));
      const values = { private: made.privateKey, public: made.publicKey };
      await secrets.putAll(imageKeySecret(session.id), values, ACTOR);
      // Of two that make one at once, the pair that stays counts for both.
      return (await read(session.id)) ?? made;
    },
    remove: (sessionId: string): Promise<void> => secrets.delete(imageKeySecret(sessionId)),
  };
}
