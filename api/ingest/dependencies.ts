import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../store/tables.ts';
import type { TlsPair } from '../dependencies.ts';

/** What the ingest port is made of. */
export interface IngestDependencies {
  db: Kysely<Database>;
  log: FastifyBaseLogger;
  /** Now; tests set it. */
  clock(): Date;
  /** How long after the end of a run its token is good, seconds. */
  spoolSeconds: number;
  /** Largest kept log of a run, bytes. */
  logMax: number;
  /** What the listener speaks TLS with; undefined: plain HTTP. */
  tls: TlsPair | undefined;
}
