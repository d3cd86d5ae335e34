import { generateKeyPairSync } from 'node:crypto';

/** A new private key for ssh (ECDSA P-384, PEM as ssh reads it). */
export function makeSshPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}
