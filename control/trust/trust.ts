/** Who the sessions are to hosts: a key and a certificate that is always good for a while (cfs-flows 6.3). */

import { isMusterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { isRenewalDue, isUsable, lookAgainAfter } from '../../domain/trust/certificate-renewal.ts';
import type { BootMetadata, CertificateSigner } from '../../domain/trust/ports.ts';
import { parseCertificate, type SshCertificate } from '../../domain/trust/ssh-certificate.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  findAuthority,
  listAuthorities,
  recordAuthority,
  removeFormerAuthorities,
  withTrustLock,
} from '../../store/trust/trust.ts';

/** Secret that holds the certificate of sessions, by the name that CFS gives it. */
export const CERTIFICATE_SECRET = 'cfstrustcertificate';

/** In whose name certificates are stored. */
const TRUST_ACTOR = 'trust';

export interface TrustDependencies {
  db: Db;
  secrets: SecretStore;
  signer: CertificateSigner;
  /** Users that certificates let in. */
  principals: readonly string[];
  /** Life of a certificate. */
  ttlSeconds: number;
  /** Where the authority is published besides the API; undefined: nowhere. */
  metadata?: BootMetadata | undefined;
  clock(): Date;
}

/** What a session shows to hosts. */
export interface SessionIdentity {
  privateKey: string;
  /** Line of its public half. */
  publicKey: string;
  /** Line of the certificate for that key. */
  certificate: string;
  /** ms until a session in progress should ask again. */
  lookAgainMs: number;
  /** Why the certificate could not be renewed although it is due; null when all is well. */
  problem: string | null;
}

export type Trust = ReturnType<typeof createTrust>;

export function createTrust(deps: TrustDependencies) {
  const { db, secrets, signer, principals, ttlSeconds, clock } = deps;
  const life = ttlSeconds * 1000;
  /** One at a time in this process, so that those who wait do not hold all connections. */
  let renewing: Promise<string> | null = null;

  const stored = async (): Promise<string | null> => (await secrets.get(CERTIFICATE_SECRET))?.certificate ?? null;

  const isDue = (certificate: SshCertificate | null, publicKey: string, authority: string | null) =>
    authority === null || isRenewalDue(certificate, { publicKey, authority, principals, life }, clock().getTime());

  const sign = (publicKey: string): Promise<string> =>
    withTrustLock(db, async () => {
      const authority = await signer.authority();
      await recordAuthority(db, authority, clock());
      // Another process may have been faster.
      const found = await stored();
      if (found !== null && !isDue(parseCertificate(found), publicKey, authority)) return found;
      const certificate = await signer.sign({ publicKey, keyId: 'muster', principals, ttlSeconds });
      await secrets.putAll(CERTIFICATE_SECRET, { certificate }, TRUST_ACTOR);
      return certificate;
    });

  const renewed = (publicKey: string): Promise<string> => {
    renewing ??= sign(publicKey).finally(() => {
      renewing = null;
    });
    return renewing;
  };

  /**
   * The key of sessions with a certificate of which more than half is left. When none can be made, the one that is there as
   * long as it is valid, with the reason.
   * @throws `trust_unavailable`, or what keeps the secrets from being read
   */
  const identity = async (): Promise<SessionIdentity> => {
    const { privateKey, publicKey } = await signer.sessionKey();
    let certificate = await stored();
    let problem: string | null = null;
    if (isDue(certificate === null ? null : parseCertificate(certificate), publicKey, await findAuthority(db))) {
      try {
        certificate = await renewed(publicKey);
      } catch (error) {
        const parsed = certificate === null ? null : parseCertificate(certificate);
        if (certificate === null || !isUsable(parsed, publicKey, clock().getTime())) throw error;
        problem = isMusterError(error) ? error.detail : String(error);
      }
    }
    const parsed = parseCertificate(certificate ?? '');
    const now = clock().getTime();
    return {
      privateKey,
      publicKey,
      certificate: certificate ?? '',
      lookAgainMs: parsed === null ? life / 2 : lookAgainAfter(parsed, life, now),
      problem,
    };
  };

  /**
   * Brings authority, certificate and what is published to what they should be; harmless to repeat at any time.
   * @throws `trust_unavailable`
   */
  const renew = async (): Promise<{ published: boolean; validBefore: Date | null }> => {
    const authority = await withTrustLock(db, () => signer.authority());
    await recordAuthority(db, authority, clock());
    // Nothing that a former one has signed is valid any more.
    await removeFormerAuthorities(db, new Date(clock().getTime() - life));
    const lines = await authorityLines(db);
    // A metadata service that is away keeps no certificate from being made, nor the other way round.
    const [publishing] = await Promise.allSettled([deps.metadata?.publishAuthority(lines)]);
    const { certificate, problem } = await identity();
    if (problem !== null) throw new Error(problem);
    if (publishing.status === 'rejected') throw publishing.reason;
    const published = publishing.value ?? false;
    const end = parseCertificate(certificate)?.validBefore;
    return { published, validBefore: end === undefined || !Number.isFinite(end) ? null : new Date(end) };
  };

  /** Whether there is anything to renew. Throws `trust_unavailable`, or what keeps the secrets from being read. */
  const isRenewalWanted = async (): Promise<boolean> => {
    const [authority, certificate] = [await findAuthority(db), await stored()];
    if (authority === null || certificate === null) return true;
    return isDue(parseCertificate(certificate), (await signer.sessionKey()).publicKey, authority);
  };

  return { identity, renew, isRenewalWanted, hasOwnKey: signer.hasOwnKey };
}

/** What hosts are to trust, a key a line, the one that signs now first; empty before there is one. */
export async function authorityLines(db: Db): Promise<string> {
  return (await listAuthorities(db)).map(({ public_key }) => `${public_key}\n`).join('');
}
