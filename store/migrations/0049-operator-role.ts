import { type Kysely, sql } from 'kysely';

/** Group role of the logins of operators. */
export const OPERATOR_ROLE = 'muster_operator';

/** Tables of which an operator's login sees the rows of its own operators alone, and the condition on a row. */
const OWN_OPERATOR = 'operator in (select name from operators)';
const OPERATORS = {
  operators: 'db_role = current_user',
  operator_processes: OWN_OPERATOR,
  operator_watches: OWN_OPERATOR,
  operator_resources: OWN_OPERATOR,
  operator_reconciles: OWN_OPERATOR,
  operator_proxy_passwords: OWN_OPERATOR,
  operator_dependents: OWN_OPERATOR,
  operator_failures: OWN_OPERATOR,
};

/** The id of a run, and so of its stream, begins with the id of its reconcile, of which only its own records can be seen. */
const ofRun = (
  column: string,
): string => `case when ${column} ~ '^reconcile-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9]+$'
  then exists (select from operator_reconciles c where c.id = substr(${column}, 11, 36)::uuid) else false end`;
const OTHERS = {
  // Machines of other kinds run sessions.
  run_machines: "kind = 'operator'",

  runs: ofRun('runs.id'),
  streams: ofRun('streams.id'),
  events: ofRun('events.stream_id'),
  output: ofRun('output.stream_id'),
  host_results: ofRun('host_results.run_id'),
  unreached_hosts: ofRun('unreached_hosts.run_id'),
  run_tokens: ofRun('run_tokens.run_id'),
};

const GRANTS = [
  `grant select, insert, update, delete on ${Object.keys(OPERATORS).join(', ')} to ${OPERATOR_ROLE}`,
  `grant select, insert, update, delete on runs, streams, events, output, host_results, unreached_hosts, run_machines to ${OPERATOR_ROLE}`,
  // A run's tokens are removed with it; operators' runs have none, and what they are is never read.
  `grant select (run_id), delete on run_tokens to ${OPERATOR_ROLE}`,
  // How long runs waited is counted.
  `grant select, insert, update on tallies to ${OPERATOR_ROLE}`,
  `grant select on kysely_migration, installation to ${OPERATOR_ROLE}`,
];

/** For all others the rows stay as they were; the owner of the tables is not even asked. */
const POLICIES = Object.entries({ ...OPERATORS, ...OTHERS }).flatMap(([table, condition]) => [
  `alter table ${table} enable row level security`,
  `create policy everybody on ${table} as permissive for all to public using (true) with check (true)`,
  `create policy own_rows on ${table} as restrictive for all to ${OPERATOR_ROLE} using (${condition}) with check (${condition})`,
]);

/**
 * The rights of operators' logins. Where the group role is there, they are given now; where it is made later, its maker calls
 * `muster_grant_operators()` as the owner of the tables. Repeating it is harmless.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create function muster_grant_operators() returns boolean language plpgsql as $$
    begin
      if not exists (select from pg_roles where rolname = '${OPERATOR_ROLE}') then return false; end if;
      ${GRANTS.map((grant) => `${grant};`).join('\n      ')}
      if exists (select from pg_policies where schemaname = current_schema() and policyname = 'own_rows' and tablename = 'operators')
        then return true; end if;
      ${POLICIES.map((policy) => `${policy};`).join('\n      ')}
      return true;
    end $$`,
    'select muster_grant_operators()',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
