/**
 * Prepares database and Temporal for this release, then ends: the Job that runs before API and worker are rolled out. Composition
 * root. Repeating it changes nothing. `--operator-login OPERATOR=LOGIN=FILE` makes a login of an operator, with the password of a file.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { databaseSettings } from '../../config/database-settings.ts';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { temporalSettings } from '../../config/temporal-settings.ts';
import { connectTemporal } from '../../control/temporal/connect.ts';
import { ensureNamespace } from '../../control/temporal/ensure-namespace.ts';
import { registerSearchAttributes } from '../../control/temporal/register-search-attributes.ts';
import { readOperatorLogin } from '../../domain/operator/operator-login.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { isConnectionError, openDatabase } from '../../store/connection/database.ts';
import { migrate } from '../../store/migrations/index.ts';
import { makeOperatorLogins, OtherLogin } from '../../store/operator/logins.ts';

/** How long servers that do not answer are waited for, ms. The Job is tried again after that. */
const PATIENCE_MS = 240_000;
const PAUSE_MS = 2_000;

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  const log = pino({ name: 'muster-migrate', level: env.MUSTER_LOG_LEVEL });
  const until = Date.now() + PATIENCE_MS;

  const db = openDatabase({ ...databaseSettings(env), name: 'muster-migrate', poolSize: 2 });
  // A statement that fails will fail again; a database that is away comes back.
  const logins = await operatorLogins(process.argv.slice(2));
  await again('database', isConnectionError, async () => {
    await migrate(db);
    await makeOperatorLogins(db, logins, new Date()).catch(refusedLogins);
  }).finally(() => db.destroy());
  log.info({ logins: logins.map(({ login }) => login) }, 'the database is in shape');

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

/** Returns the logins that the command names, with their passwords. */
async function operatorLogins(args: string[]) {
  const { values } = parseArgs({ args, options: { 'operator-login': { type: 'string', multiple: true } } });
  return Promise.all(
    (values['operator-login'] ?? []).map(async (words) => {
      const named = readOperatorLogin(words);
      if (named === null) throw new LoginsRefused(`--operator-login ${words}: OPERATOR=LOGIN=FILE is needed`);
      const password = (await readFile(named.file, 'utf8')).replace(/\r?\n$/, '');
      if (password === '') throw new LoginsRefused(`${named.file}: the password of ${named.login} is empty`);
      return { ...named, password };
    }),
  );
}

/** Postgres's code of what a login may not do. */
const NOT_ALLOWED = '42501';

function refusedLogins(error: unknown): never {
  const denied = typeof error === 'object' && error !== null && 'code' in error && error.code === NOT_ALLOWED;
  if (!denied && !(error instanceof OtherLogin)) throw error;
  const mend = denied
    ? 'the login of the database may not make them: give it CREATEROLE, or make them as docs/lanes/operator.md says and leave operatorLogins empty'
    : 'remove that operator first, or name its login';
  throw new LoginsRefused(`operatorLogins: ${messageOf(error)}: ${mend}`);
}

class LoginsRefused extends Error {
  override name = 'LoginsRefused';
}

main().catch((error) => {
  const isTold = error instanceof EnvironmentError || error instanceof LoginsRefused;
  process.stderr.write(`${isTold ? error.message : (error?.stack ?? error)}\n`);
  process.exit(isTold ? 2 : 1);
});
