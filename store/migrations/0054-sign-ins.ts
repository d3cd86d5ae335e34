import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, reasonedAuditFunctions } from './audited-table.ts';

/** Sign-ins and sign-outs; that a sign-in is used is no change. */
const AUDITED_SIGN_INS: AuditedTable = {
  table: 'sign_ins',
  kind: 'sign-in',
  key: ['id'],
  name: (row) => `${row}.actor`,
  columns: [{ column: 'id', show: (reference) => `${reference}::text` }],
  writer: (row) => `${row}.actor`,
  creation: 'sign-in',
  updated: (old, row) => `${row}.ended_at is distinct from ${old}.ended_at`,
  action: () => `'sign-out'`,
  events: ['insert', 'update'],
};

/** Sign-ins of browsers by cookie. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table sign_ins (
      id uuid primary key,
      hash bytea not null unique,
      token_id uuid not null references tokens (id) on delete cascade,
      actor text not null,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      ended_at timestamptz
    )`,
    'create index sign_ins_token on sign_ins (token_id)',
    'create index sign_ins_last_used on sign_ins (last_used_at)',
    ...auditTriggers(AUDITED_SIGN_INS),
    ...reasonedAuditFunctions(AUDITED_SIGN_INS),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
