import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import type { Database } from '../tables.ts';
import * as foundation from './0001-foundation.ts';
import * as componentStatus from './0002-component-status.ts';
import * as access from './0003-access.ts';
import * as idempotency from './0004-idempotency.ts';
import * as runTokens from './0005-run-tokens.ts';
import * as sessions from './0006-sessions.ts';
import * as configurations from './0007-configurations.ts';
import * as batcher from './0008-batcher.ts';
import * as rollouts from './0009-rollouts.ts';
import * as leases from './0010-leases.ts';
import * as schedules from './0011-schedules.ts';
import * as drift from './0012-drift.ts';
import * as boot from './0013-boot.ts';
import * as trust from './0014-trust.ts';
import * as audit from './0015-audit.ts';
import * as webhooks from './0016-webhooks.ts';
import * as tallies from './0017-tallies.ts';
import * as traces from './0018-traces.ts';
import * as sessionJobs from './0019-session-jobs.ts';
import * as sessionImages from './0020-session-images.ts';
import * as images from './0021-images.ts';
import * as imageQueue from './0022-image-queue.ts';
import * as impossibleSince from './0023-impossible-since.ts';
import * as imageLine from './0024-image-line.ts';
import * as imageJobFormat from './0025-image-job-format.ts';
import * as imagePostedAt from './0026-image-posted-at.ts';
import * as imageWorkerAble from './0027-image-worker-able.ts';
import * as installation from './0028-installation.ts';
import * as imageWorkerPorts from './0029-image-worker-ports.ts';
import * as requiredMacs from './0030-required-macs.ts';
import * as brokenOffRuns from './0031-broken-off-runs.ts';
import * as limitOfHosts from './0032-limit-of-hosts.ts';
import * as controllerHolds from './0033-controller-holds.ts';
import * as canaries from './0034-canaries.ts';
import * as auditBounds from './0035-audit-bounds.ts';
import * as uncertainChanges from './0036-uncertain-changes.ts';
import * as sealedWebhooks from './0037-sealed-webhooks.ts';

/** In order of their names; a released migration never changes. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-component-status': componentStatus,
  '0003-access': access,
  '0004-idempotency': idempotency,
  '0005-run-tokens': runTokens,
  '0006-sessions': sessions,
  '0007-configurations': configurations,
  '0008-batcher': batcher,
  '0009-rollouts': rollouts,
  '0010-leases': leases,
  '0011-schedules': schedules,
  '0013-boot': boot,
  '0012-drift': drift,
  '0015-audit': audit,
  '0014-trust': trust,
  '0016-webhooks': webhooks,
  '0017-tallies': tallies,
  '0018-traces': traces,
  '0019-session-jobs': sessionJobs,
  '0020-session-images': sessionImages,
  '0021-images': images,
  '0022-image-queue': imageQueue,
  '0023-impossible-since': impossibleSince,
  '0024-image-line': imageLine,
  '0025-image-job-format': imageJobFormat,
  '0026-image-posted-at': imagePostedAt,
  '0027-image-worker-able': imageWorkerAble,
  '0028-installation': installation,
  '0029-image-worker-ports': imageWorkerPorts,
  '0030-required-macs': requiredMacs,
  '0031-broken-off-runs': brokenOffRuns,
  '0032-limit-of-hosts': limitOfHosts,
  '0033-controller-holds': controllerHolds,
  '0034-canaries': canaries,
  '0035-audit-bounds': auditBounds,
  '0036-uncertain-changes': uncertainChanges,
  '0037-sealed-webhooks': sealedWebhooks,
};

/**
 * Brings the database to the newest shape; safe to call from several processes at once (it takes a lock). A database that a
 * newer release has migrated is left as it is: that release widens what is there, and this one goes on with it, beside the
 * newer one or after it was rolled back.
 */
export async function migrate(db: Kysely<Database>): Promise<void> {
  const getMigrations = async () => ({ ...(await newerMigrations(db)), ...MIGRATIONS });
  const migrator = new Migrator({ db, provider: { getMigrations }, allowUnorderedMigrations: true });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/**
 * Gives an empty database the shape that these migrations make, in which rows of that time fit.
 * @throws when a name is of none that this release has
 */
export async function migrateTo(db: Kysely<Database>, names: readonly string[]): Promise<void> {
  const chosen = names.map((name) => {
    const migration = Object.hasOwn(MIGRATIONS, name) ? MIGRATIONS[name] : undefined;
    if (migration === undefined) throw new Error(`there is no migration ${name} in this release`);
    return [name, migration] as const;
  });
  const getMigrations = async () => Object.fromEntries(chosen);
  const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest();
  if (error) throw error;
}

const NEVER_RUN: Migration = { up: async () => undefined };

/** What the database has of migrations that are not known here; the migrator only wants to see their names. */
async function newerMigrations(db: Kysely<Database>): Promise<Record<string, Migration>> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`.execute(
    db,
  );
  if (!rows[0]?.there) return {};
  const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const unknown = done.rows.map(({ name }) => name).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  return Object.fromEntries(unknown.map((name) => [name, NEVER_RUN]));
}
