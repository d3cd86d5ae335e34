import type { FastifyBaseLogger } from 'fastify';
import type { Db } from '../../store/connection/database.ts';
import type { TlsPair } from '../shared/api-shared.ts';

/** What the ingest port is made of. */
export interface IngestDependencies {
  db: Db;
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
