import { readFileSync } from 'node:fs';
import { type Environment, EnvironmentError } from './environment.ts';

/** Address of the database and the CA of its certificate. The embedded stack tells its processes where its own is. */
export function databaseSettings(env: Environment): { url: string; ca: string | undefined } {
  const { MUSTER_DATABASE_URL: url, MUSTER_DATABASE_CA_FILE: ca } = env;
  if (url === undefined) {
    throw new EnvironmentError(
      'MUSTER_DATABASE_URL is not set: name a Postgres, or start the embedded stack (muster up)',
    );
  }
  return { url, ca: ca === undefined ? undefined : readFileSync(ca, 'utf8') };
}
