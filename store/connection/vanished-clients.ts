/** What makes the database let go of what a machine held that vanished: without power or network nobody closes its connections. */

/**
 * Silent for 10 s, a client is asked every 5 s, and its connection ends when it has said nothing for 30 s; also when it is
 * an answer that it does not take. The system's own limits are two hours and a quarter of an hour: so long would locks stay.
 */
const TCP = {
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '5s',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '30s',
};
/**
 * For a process that stands still though its machine does not. Above what a transaction waits for between two statements: making
 * a certificate under its lock with a Vault that hardly answers takes up to 3 minutes.
 */
const IDLE_IN_TRANSACTION = '5min';

/**
 * The statements with which every connection begins. They are statements since a pooler (PgBouncer) refuses parameters of the
 * start-up that it does not know. Any user may set them; on a socket of the file system Postgres ignores those of TCP.
 */
export function beginConnection({ statementMs }: { statementMs?: number | undefined } = {}): string {
  const settings = {
    ...TCP,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
    ...(statementMs === undefined ? {} : { statement_timeout: `${statementMs}ms` }),
  };
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}
