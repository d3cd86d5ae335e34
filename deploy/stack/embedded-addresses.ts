import type { Environment } from '../../config/environment.ts';
import { databaseUrl } from './postgres.ts';
import { readOrMakePasswords } from './postgres-cluster.ts';
import type { StackState } from './stack-state.ts';

/** Returns the settings by which a process of this user reaches the servers of an embedded stack that runs. */
export function embeddedAddresses(
  dataDir: string,
  environment: Environment,
  { components }: Pick<StackState, 'components'>,
): { MUSTER_DATABASE_URL: string; MUSTER_TEMPORAL_ADDRESS: string } {
  const portOf = (address: string | null | undefined, fallback: number): number =>
    Number(/:(\d+)$/.exec(address ?? '')?.[1] ?? fallback);
  const postgres = portOf(components.postgres?.address, environment.MUSTER_POSTGRES_PORT);
  const temporal = components.temporal?.address ?? `127.0.0.1:${environment.MUSTER_TEMPORAL_PORT}`;
  return {
    MUSTER_DATABASE_URL: databaseUrl(postgres, readOrMakePasswords(dataDir)),
    MUSTER_TEMPORAL_ADDRESS: temporal,
  };
}
