import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { databaseSettings } from '../../config/database-settings.ts';
import { loadEnvironment } from '../../config/environment.ts';
import { openDatabase, pingDatabase } from '../../store/connection/database.ts';
import { openListener } from '../../store/connection/listener.ts';
import { eventually } from '../support/eventually.ts';
import { findProgram } from '../support/find-program.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { type PostgresServer, startPostgresServer } from '../support/postgres/postgres-server.ts';
import { describeNeeding } from '../support/requirement.ts';

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'a Postgres with a CA of its own', () => {
  let dir: string;
  let caFile: string;
  let otherCa: string;
  let postgres: PostgresServer;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-database-ca-'));
    const certificates = makeCertificates(join(dir, 'own'));
    caFile = certificates.caFile;
    otherCa = makeCertificates(join(dir, 'other')).caFile;
    postgres = await startPostgresServer(certificates.tls);
  });
  afterAll(async () => {
    await postgres?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const settings = (parameters: string, ca: string) =>
    databaseSettings(
      loadEnvironment({ MUSTER_DATABASE_URL: `${postgres.url}${parameters}`, MUSTER_DATABASE_CA_FILE: ca }),
    );
  /** What the pool and its watch are answered; pg_stat_ssl says whether their connections are encrypted. */
  const answers = async (database: ReturnType<typeof settings>): Promise<void> => {
    const db = openDatabase({ ...database, poolSize: 1 });
    try {
      const { rows } = await sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(
        db,
      );
      expect(rows).toEqual([{ ssl: true }]);
      await pingDatabase(db);
    } finally {
      await db.destroy();
    }
  };

  test.each(['', '?sslmode=require', '?sslmode=verify-full', '?ssl=true'])(
    'is checked by that CA with "%s"',
    async (parameters) => {
      await answers(settings(parameters, caFile));
      await expect(answers(settings(parameters, otherCa))).rejects.toThrow(/certificate/);
    },
  );

  test('is listened to', async () => {
    let connected = false;
    const listener = openListener({
      ...settings('?sslmode=require', caFile),
      name: 'test',
      channel: 'test',
      onNotification: () => undefined,
      onConnected: () => {
        connected = true;
      },
    });
    try {
      await eventually('it is connected', () => connected);
    } finally {
      await listener.close();
    }
  });
});
