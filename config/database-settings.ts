import { readFileSync } from 'node:fs';
import { dataPaths } from './data-paths.ts';
import { type Environment, EnvironmentError } from './environment.ts';

/** User and database of the embedded Postgres. */
export const EMBEDDED_DATABASE = 'muster';

/** Address of the database that the environment names, or of the embedded one, whose password is in the data directory. */
export function databaseSettings(env: Environment): { url: string; ca: string | undefined } {
  const ca = env.MUSTER_DATABASE_CA_FILE;
  return {
    url: env.MUSTER_DATABASE_URL ?? embeddedUrl(env),
    ca: ca === undefined ? undefined : readFileSync(ca, 'utf8'),
  };
}

function embeddedUrl(env: Environment): string {
  const path = dataPaths(env.MUSTER_DATA_DIR).postgresPassword;
  try {
    const password = encodeURIComponent(readFileSync(path, 'utf8').trim());
    return `postgres://${EMBEDDED_DATABASE}:${password}@127.0.0.1:${env.MUSTER_POSTGRES_PORT}/${EMBEDDED_DATABASE}`;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new EnvironmentError(`MUSTER_DATABASE_URL is not set and there is no embedded Postgres: ${cause}`);
  }
}
