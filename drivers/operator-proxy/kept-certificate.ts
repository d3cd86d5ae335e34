/** The proxy's CA and certificate on the disk: kubeconfigs of runs that live hold the CA, so a restart keeps it. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type IssuedCertificates, issueForLoopback } from './issue-certificate.ts';

export type ProxyCertificate = IssuedCertificates;

const FILE = 'certificate.json';
const YEAR_MS = 365 * 24 * 3_600_000;
const YEARS = 10;
/** What ends sooner is made anew at a start. */
const LEAST_LEFT_MS = YEAR_MS;
/** Clocks of one machine do not differ, but they are set back. */
const EARLIER_MS = 24 * 3_600_000;
const AUTHORITY = 'Muster operator proxy CA';

/**
 * Returns CA and certificate that the folder holds; makes them where there are none, or where they end soon.
 * Throws where the file is there and cannot be read: a new CA would lock out the runs that live.
 */
export async function keptCertificate(folder: string, now: Date): Promise<ProxyCertificate> {
  const path = join(folder, FILE);
  const kept = await readKept(path);
  if (kept !== null && isLasting(kept, now)) return kept;
  const made = await make(now);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, JSON.stringify(made), { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  return made;
}

async function readKept(path: string): Promise<ProxyCertificate | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const kept = JSON.parse(text) as ProxyCertificate;
    const server = new X509Certificate(kept.server.certificate);
    const whole =
      server.verify(new X509Certificate(kept.ca).publicKey) &&
      server.checkPrivateKey(createPrivateKey(kept.server.key));
    if (!whole) throw new Error('key and certificates do not belong together');
    return kept;
  } catch {
    throw new Error(
      `${path} holds no certificate of the proxy; remove it to have a new one made: runs that live then lose the cluster`,
    );
  }
}

function isLasting({ ca, server }: ProxyCertificate, now: Date): boolean {
  return [ca, server.certificate].every(
    (pem) => new X509Certificate(pem).validToDate.getTime() - now.getTime() > LEAST_LEFT_MS,
  );
}

/** The key of the CA is used once and not kept: nobody can issue another certificate that runs trust. */
function make(now: Date): Promise<ProxyCertificate> {
  return issueForLoopback(AUTHORITY, {
    from: new Date(now.getTime() - EARLIER_MS),
    until: new Date(now.getTime() + YEARS * YEAR_MS),
  });
}
