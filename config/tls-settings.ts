import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type Environment, EnvironmentError } from './environment.ts';

export interface TlsSettings {
  pair: { cert: string; key: string };
  files: { cert: string; key: string };
  /** What works and should not stay so: a key that others may read, a certificate that has ended. */
  warnings: string[];
}

/**
 * The certificate and key that the API listens with; undefined: plain HTTP.
 * @throws {EnvironmentError} that names the file which is missing, no PEM, or does not fit the other one
 */
export function tlsSettings(env: Pick<Environment, 'MUSTER_TLS_CERT' | 'MUSTER_TLS_KEY'>): TlsSettings | undefined {
  const { MUSTER_TLS_CERT: certFile, MUSTER_TLS_KEY: keyFile } = env;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const cert = read('MUSTER_TLS_CERT', certFile);
  const key = read('MUSTER_TLS_KEY', keyFile);
  const certificate = checked('MUSTER_TLS_CERT', certFile, 'certificate', () => new X509Certificate(cert));
  const privateKey = checked('MUSTER_TLS_KEY', keyFile, 'private key without passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new EnvironmentError(
      `MUSTER_TLS_KEY: ${keyFile} is not the key of the first certificate in ${certFile}; the server's own must come first`,
    );
  }
  const warnings: string[] = [];
  const { mode, uid } = statSync(keyFile);
  // What another owner gives us, as a cluster does with Secrets, can be read by the group alone.
  const closed = uid === process.geteuid?.() ? 0o077 : 0o007;
  if ((mode & closed) !== 0) {
    warnings.push(`MUSTER_TLS_KEY: others may read ${keyFile}; "chmod 600" closes it`);
  }
  if (certificate.validToDate < new Date()) {
    warnings.push(`MUSTER_TLS_CERT: ${certFile} has ended at ${certificate.validToDate.toISOString()}`);
  }
  return { pair: { cert, key }, files: { cert: certFile, key: keyFile }, warnings };
}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new EnvironmentError(`${name}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function checked<T>(name: string, file: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new EnvironmentError(`${name}: ${file} holds no ${what} in PEM form`);
  }
}
