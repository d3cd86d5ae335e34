/** The certificate of the metrics: the one that is given, else one that signs itself, made at each start. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { issueForLoopback, type KeyedCertificate } from '../operator-proxy/issue-certificate.ts';

/** Names of the files, as Kubernetes has them in secrets. */
const CERTIFICATE = 'tls.crt';
const KEY = 'tls.key';
const YEARS_MS = 10 * 365 * 24 * 3_600_000;
/** Clocks are set back. */
const EARLIER_MS = 24 * 3_600_000;

/** Returns the certificate in a folder; null where the folder has none. Throws where it cannot be used, or half of it is missing. */
export async function givenCertificate(folder: string): Promise<KeyedCertificate | null> {
  const [certificate, key] = await Promise.all([textOf(join(folder, CERTIFICATE)), textOf(join(folder, KEY))]);
  if (certificate === null && key === null) return null;
  if (certificate === null || key === null) {
    throw new Error(`${join(folder, certificate === null ? CERTIFICATE : KEY)} is missing beside the other of the two`);
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch {
    throw new Error(`${join(folder, CERTIFICATE)} and ${KEY} are not a certificate with its key`);
  }
  return { certificate, key };
}

/** Returns a certificate for this machine that no authority knows: readers of metrics are told not to check it. */
export async function ownCertificate(now: Date): Promise<KeyedCertificate> {
  const validity = { from: new Date(now.getTime() - EARLIER_MS), until: new Date(now.getTime() + YEARS_MS) };
  return (await issueForLoopback('Muster operator metrics', validity)).server;
}

async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}
