import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, reasonedAuditFunctions } from './audited-table.ts';

/** Stopping, and going on; that stopping is complete is no change. */
const AUDITED_STOP: AuditedTable = {
  table: 'fleet_stop',
  kind: 'fleet',
  key: ['single'],
  name: () => `'fleet'`,
  columns: [
    {
      column: 'stopped_at',
      show: (reference) => `to_char(${reference} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
    },
    'reason',
  ],
  writer: (row) => `${row}.stopped_by`,
  updated: (old, row) => `(${row}.stopped_at, ${row}.reason) is distinct from (${old}.stopped_at, ${old}.reason)`,
  action: (_old, row) => `case when ${row}.stopped_at is null then 'go' else 'stop' end`,
  events: ['update'],
};

/** Whether everything is stopped. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table fleet_stop (
      single boolean primary key default true check (single),
      stopped_at timestamptz,
      stopped_by text,
      reason text,
      moments timestamptz[] not null default '{}',
      complete boolean not null default true
    )`,
    'insert into fleet_stop default values',
    ...auditTriggers(AUDITED_STOP),
    ...reasonedAuditFunctions(AUDITED_STOP),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
