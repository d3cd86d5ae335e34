import { readFileSync } from 'node:fs';
import { filesOf, withoutTlsWords } from './database-tls.ts';
import { type Environment, EnvironmentError } from './environment.ts';

/**
 * Address of the database and the CA of its certificate. The embedded stack tells its processes where its own is. With a CA the
 * address says nothing of TLS that would win over it.
 * @throws {EnvironmentError} when there is no address, or a file that it or the CA's setting names cannot be read
 */
export function databaseSettings(env: Environment): { url: string; ca: string | undefined } {
  const { MUSTER_DATABASE_URL: url, MUSTER_DATABASE_CA_FILE: caFile } = env;
  if (url === undefined) {
    throw new EnvironmentError(
      'MUSTER_DATABASE_URL is not set: name a Postgres, or start the embedded stack (muster up)',
    );
  }
  // The driver would read these for its first connection, where a failure has nobody who takes it up.
  for (const [parameter, file] of filesOf(url)) contentOf(file, `MUSTER_DATABASE_URL: ${parameter}`);
  if (caFile === undefined) return { url, ca: undefined };
  return { url: withoutTlsWords(url), ca: contentOf(caFile, 'MUSTER_DATABASE_CA_FILE:') };
}

function contentOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new EnvironmentError(`${name} names a file that cannot be read: ${(error as Error).message}`);
  }
}
