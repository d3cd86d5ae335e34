import { readFileSync } from 'node:fs';
import { withoutTlsWords } from './database-tls.ts';
import { type Environment, EnvironmentError } from './environment.ts';

/**
 * Address of the database and the CA of its certificate. The embedded stack tells its processes where its own is. With a CA the
 * address says nothing of TLS that would win over it.
 * @throws {EnvironmentError} when there is no address
 */
export function databaseSettings(env: Environment): { url: string; ca: string | undefined } {
  const { MUSTER_DATABASE_URL: url, MUSTER_DATABASE_CA_FILE: caFile } = env;
  if (url === undefined) {
    throw new EnvironmentError(
      'MUSTER_DATABASE_URL is not set: name a Postgres, or start the embedded stack (muster up)',
    );
  }
  if (caFile === undefined) return { url, ca: undefined };
  return { url: withoutTlsWords(url), ca: readFileSync(caFile, 'utf8') };
}
