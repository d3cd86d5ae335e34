import { musterError } from '../../domain/errors.ts';
import type { KeyRotation } from '../../domain/secrets/key-rotation.ts';
import type { Db } from '../../store/connection/database.ts';
import { finishRotation, readSealedSample, rotateKey } from '../../store/secrets/secret-keys.ts';

/** The key of the secrets as this lane needs it. */
export interface SecretKey {
  hasKey(): boolean;
  makeKey(): void;
  decrypt(ciphertext: Buffer, context: string): string;
  rotation: KeyRotation;
}

/** Values of each kind that are tried: one may be damaged by itself. */
const SAMPLE = 20;

/**
 * Sees to it that the key is there and opens what the database holds, and finishes a change of it that was broken off. A key is made
 * only where nothing was encrypted yet: beside values that no key opens, a new one would look right and be none.
 * @param keyFile for people
 * @throws `secret_unreadable`, which no waiting mends
 */
export async function ensureSecretKey(db: Db, key: SecretKey, keyFile: string): Promise<void> {
  const sample = await readSealedSample(db, SAMPLE);
  if (sample.length === 0) {
    if (!key.hasKey()) key.makeKey();
    return;
  }
  // Another process may have made it since the first look.
  if (!key.hasKey())
    throw lost(`${keyFile} is missing, and the database holds secrets that no other key opens`, keyFile);
  const opens = sample.some(({ place, ciphertext }) => {
    try {
      key.decrypt(ciphertext, place);
      return true;
    } catch {
      return false;
    }
  });
  if (!opens) throw lost(`${keyFile} is not the key of the secrets in the database: it opens none of them`, keyFile);
  await finishRotation(db, key.rotation);
}

function lost(what: string, keyFile: string) {
  return musterError(
    'secret_unreadable',
    `${what}. Put the right ${keyFile} back, or restore a backup into an empty data directory: ./muster restore FILE`,
  );
}

/** Changes the key of the secrets; answers how many values there are. */
export async function changeSecretKey(db: Db, key: SecretKey | null): Promise<number> {
  if (key === null) {
    throw musterError(
      'secret_key_elsewhere',
      'Secrets are in the cluster here (MUSTER_SECRETS): Kubernetes encrypts them, so there is no key',
    );
  }
  return rotateKey(db, key.rotation);
}
