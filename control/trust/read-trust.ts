import { createHash } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { parseCertificate } from '../../domain/trust/ssh-certificate.ts';
import type { TrustView } from '../../domain/trust/trust-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { listAuthorities } from '../../store/trust/trust.ts';
import { authorityLines, CERTIFICATE_SECRET } from './trust.ts';

export interface ReadTrustDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
}

/** Authorities and certificate, without any secret. */
export async function readTrust({ db, secrets }: ReadTrustDependencies): Promise<TrustView> {
  const stored = (await secrets.get(CERTIFICATE_SECRET))?.certificate;
  const certificate = stored === undefined ? null : parseCertificate(stored);
  return {
    authorities: (await listAuthorities(db)).map(({ public_key, since, replaced_at }) => ({
      public_key,
      fingerprint: fingerprintOf(public_key),
      since: since.toISOString(),
      replaced_at: replaced_at?.toISOString() ?? null,
    })),
    certificate: certificate && {
      key_id: certificate.keyId,
      public_key: certificate.publicKey,
      principals: certificate.principals,
      valid_after: timeOf(certificate.validAfter) ?? '',
      valid_before: timeOf(certificate.validBefore),
    },
  };
}

/**
 * What hosts are to trust, a line a key (cfs-flows 6.3).
 * @throws `trust_not_ready` before there is an authority
 */
export async function readAuthorityLines({ db }: Pick<ReadTrustDependencies, 'db'>): Promise<string> {
  const lines = await authorityLines(db);
  if (lines === '')
    throw musterError('trust_not_ready', 'There is no certificate authority yet; ask again in a moment.');
  return lines;
}

function fingerprintOf(publicKey: string): string {
  const [, body = ''] = publicKey.split(' ');
  const digest = createHash('sha256').update(Buffer.from(body, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

function timeOf(ms: number): string | null {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}
