import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/**
 * Makes this process trust the certificates in these files besides the platform's, for every connection it makes. Files that
 * are not named or cannot be read are left out: a connection that needs them says so.
 */
export function trustCertificates(files: readonly (string | undefined)[]): void {
  const certificates = files.flatMap((file) => {
    try {
      return file ? [readFileSync(file, 'utf8')] : [];
    } catch {
      return [];
    }
  });
  if (certificates.length > 0) setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}
