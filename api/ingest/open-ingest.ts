import type { Environment } from '../../config/environment.ts';
import type { ApiServer } from '../server/api-server.ts';
import type { ApiShared } from '../shared/api-shared.ts';
import { createIngestApp } from './ingest-app.ts';

/** Returns the server of the ingest port and what lets it listen; undefined where no port is set. */
export function openIngest(
  env: Environment,
  { db, log, clock, settings }: Pick<ApiShared, 'db' | 'log' | 'clock' | 'settings'>,
): { server: ApiServer; listen(): Promise<void> } | undefined {
  const { MUSTER_INGEST_PORT: port, MUSTER_INGEST_HOST: host } = env;
  if (port === undefined) return undefined;
  const server = createIngestApp({
    ...{ db, log, clock, tls: settings.tls },
    spoolSeconds: env.MUSTER_INGEST_SPOOL,
    logMax: env.MUSTER_LOG_MAX,
  });
  return {
    server,
    listen: async () => {
      await server.listen({ host, port });
      log.info({ host, port }, 'taking in runs that are executed elsewhere');
    },
  };
}
