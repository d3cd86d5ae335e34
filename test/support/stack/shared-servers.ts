/** The Postgres and the Temporal that the stacks of a test run share, unless a test breaks one: a stack has a database and a namespace of its own there. */
import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { ensureNamespace } from '../../../control/temporal/ensure-namespace.ts';
import { makeDatabase } from '../postgres/test-database.ts';

/** What an embedded stack allows by itself, and one on servers of somebody else only when it is told so. */
const AS_EMBEDDED = { MUSTER_ALLOW_LOCAL_CONNECTION: '1', MUSTER_REPOSITORY_SCHEMES: 'https,http,ssh,git,file' };
const RETENTION_DAYS = 1;

export interface PlaceOnServers {
  /** Settings of a stack that uses it. */
  settings: Record<string, string>;
  /** Drops the database. */
  remove(): Promise<void>;
}

/** A place of its own on the run's servers; null where this run has none, as outside of one. */
export async function placeOnServers(): Promise<PlaceOnServers | null> {
  const address = process.env.MUSTER_TEST_TEMPORAL_ADDRESS;
  if (address === undefined) return null;
  const namespace = `t-${randomBytes(8).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await ensureNamespace(connection, namespace, RETENTION_DAYS);
  } finally {
    await connection.close();
  }
  const { url, drop } = await makeDatabase();
  const servers = { MUSTER_DATABASE_URL: url, MUSTER_TEMPORAL_ADDRESS: address, MUSTER_TEMPORAL_NAMESPACE: namespace };
  return { settings: { ...AS_EMBEDDED, ...servers }, remove: drop };
}
