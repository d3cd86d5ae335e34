/**
 * Prepares database and Temporal for this release, then ends: the Job that runs before API and worker are rolled out. Composition
 * root. Repeating it changes nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { databaseSettings } from '../../config/database-settings.ts';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { temporalSettings } from '../../config/temporal-settings.ts';
import { connectTemporal } from '../../control/temporal/connect.ts';
import { ensureNamespace } from '../../control/temporal/ensure-namespace.ts';
import { registerSearchAttributes } from '../../control/temporal/register-search-attributes.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { isConnectionError, openDatabase } from '../../store/connection/database.ts';
import { migrate } from '../../store/migrations/index.ts';

/** How long servers that do not answer are waited for, ms. The Job is tried again after that. */
const PATIENCE_MS = 240_000;
const PAUSE_MS = 2_000;

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  const log = pino({ name: 'muster-migrate', level: env.MUSTER_LOG_LEVEL });
  const until = Date.now() + PATIENCE_MS;

  const db = openDatabase({ ...databaseSettings(env), name: 'muster-migrate', poolSize: 2 });
  // A statement that fails will fail again; a database that is away comes back.
  await again('database', isConnectionError, () => migrate(db)).finally(() => db.destroy());
  log.info('the database is in shape');

  const settings = temporalSettings(env, 'migrate');
  const { namespace } = settings;
  const temporal = connectTemporal(settings);
  const always = () => true;
  const made = await again('Temporal', always, () =>
    ensureNamespace(temporal.connection, namespace, env.MUSTER_TEMPORAL_RETENTION_DAYS),
  );
  // A namespace that was just made is known to all parts of the server some seconds later.
  await again('Temporal', always, () => registerSearchAttributes(temporal.connection, namespace));
  await temporal.close();
  log.info({ namespace, made }, 'Temporal is set up');

  async function again<T>(what: string, passes: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!passes(error) || Date.now() > until) throw error;
        log.warn({ err: messageOf(error) }, `${what} is not there yet`);
        await delay(PAUSE_MS);
      }
    }
  }
}

main().catch((error) => {
  process.stderr.write(`${error instanceof EnvironmentError ? error.message : (error?.stack ?? error)}\n`);
  process.exit(error instanceof EnvironmentError ? 2 : 1);
});
