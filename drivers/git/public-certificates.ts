import { readFile } from 'node:fs/promises';

/** Where systems keep the public certificates that git trusts by itself: Debian and Alpine, Red Hat, SUSE. */
export const PUBLIC_CA_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
] as const;

/** The certificates (PEM) in the first of these files that there is; '' where there is none, and git by itself trusts nobody. */
export async function publicCertificates(files: readonly string[]): Promise<string> {
  for (const file of files) {
    const found = await readFile(file, 'utf8').catch(() => null);
    if (found !== null) return found;
  }
  return '';
}
