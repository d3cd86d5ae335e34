/** Database and site come into the shape that this process needs; until then requests are answered 503. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, EnvironmentError } from '../../config/environment.ts';
import { attributeTo } from '../../control/access/attribute-writes.ts';
import { ensureAdminToken } from '../../control/access/ensure-admin-token.ts';
import { readNotices } from '../../control/configurations/read-notices.ts';
import { ensureSiteValues } from '../../control/configurations/site-values.ts';
import { ensureSecretKey } from '../../control/secrets/secret-key.ts';
import { isMusterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { migrate } from '../../store/migrations/index.ts';
import type { EngineHealth } from './api-shared.ts';
import type { Opened } from './open-shared.ts';

const SHIPPED_CONFIG = join(import.meta.dirname, '..', '..', 'ansible', 'ansible.cfg');

interface SetUp {
  opened: Opened;
  /** Says how far it is. */
  tell(setup: EngineHealth): void;
  isStopping(): boolean;
}

/**
 * Tries until it is done or the process stops. Nothing else waits for it.
 * @throws {EnvironmentError} when the key of the secrets is another one: no waiting brings a key back
 */
export async function setUp(env: Environment, { opened, tell, isStopping }: SetUp): Promise<void> {
  const { log } = opened.shared;
  for (let pause = 100; !isStopping(); pause = Math.min(5_000, pause * 2)) {
    try {
      await setUpOnce(env, opened);
      tell({ ok: true, reason: null });
      return;
    } catch (error) {
      if (isMusterError(error) && error.code === 'secret_unreadable') throw new EnvironmentError(error.message);
      const reason = messageOf(error);
      tell({ ok: false, reason });
      log.warn({ err: reason }, 'this server is not set up yet');
      await delay(pause);
    }
  }
}

async function setUpOnce(env: Environment, { shared, database, paths, site, follow }: Opened): Promise<void> {
  const { db, log, clock } = shared;
  const { cipher, secrets, configMaps } = site;
  const unlimited = openDatabase({ ...database, name: 'muster-migration', poolSize: 2 });
  await migrate(unlimited).finally(() => unlimited.destroy());
  const shippedAnsibleConfig = await readFile(SHIPPED_CONFIG, 'utf8');
  const file = env.MUSTER_ADMIN_TOKEN_FILE;
  if (cipher !== null) await ensureSecretKey(db, cipher, paths.secretKey);
  await follow();
  await attributeTo('setup', async () => {
    await ensureSiteValues({ db, secrets, configMaps, makeSshKey: makeSshPrivateKey, shippedAnsibleConfig });
    if (file !== undefined) await ensureAdminToken({ db, clock, file, log });
  });
  for (const notice of await readNotices({ db, secrets })) log.warn(notice);
}
