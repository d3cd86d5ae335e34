import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers } from './audited-table.ts';

const time = (column: string) => ({
  column,
  show: (reference: string) => `to_char(${reference} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
});
const masked = (column: string) => ({ column, show: (reference: string) => `audit_masked(to_jsonb(${reference}))` });

/** Whether it is paused; all else changes by itself. */
const pausable = {
  columns: ['paused'],
  writer: (row: string) => `${row}.paused_by`,
  updated: (old: string, row: string) => `${row}.paused <> ${old}.paused`,
  action: (_old: string, row: string) => `case when ${row}.paused then 'pause' else 'resume' end`,
};

/**
 * What is recorded: one entry for each table. What the engine does by itself is left out: progress of sessions, and layers that a
 * session reports to its components, which `host_results` has.
 */
export const AUDITED: readonly AuditedTable[] = [
  {
    table: 'components',
    kind: 'component',
    key: ['id'],
    columns: [
      'desired_config',
      'error_count',
      'retry_policy',
      'enabled',
      'tags',
      { column: 'state', entries: true },
      'boot',
      time('booted_at'),
    ],
    updated: (_old, row) => `known or ${row}.actor is null or ${row}.actor not like 'session/%'`,
  },
  { table: 'configurations', kind: 'configuration', record: { column: 'record', without: ['name', 'last_updated'] } },
  { table: 'sources', kind: 'source', record: { column: 'record', without: ['name', 'last_updated'] } },
  {
    table: 'options',
    kind: 'options',
    key: ['single'],
    name: () => `'options'`,
    record: { column: 'record', without: [] },
    // The empty record is made to be locked.
    created: (row) => `${row}.record <> '{}'`,
  },
  {
    table: 'sessions',
    kind: 'session',
    key: ['id'],
    name: (row) => `${row}.name`,
    columns: [
      { column: 'id', show: (reference) => `${reference}::text` },
      'configuration_name',
      'configuration_limit',
      'ansible_config',
      'ansible_limit',
      'ansible_verbosity',
      masked('ansible_passthrough'),
      'target',
      'tags',
      'debug_on_failure',
      'muster',
      'retry_of',
      'status',
      'succeeded',
      'job',
      'ims_job',
      masked('artifacts'),
      time('start_time'),
      time('completion_time'),
      'cancel_reason',
      time('deleted_at'),
    ],
    writer: (row, action) => (action === 'create' ? `${row}.actor` : `${row}.updated_by`),
    updated: (old, row) => `known or ${isNew('deleted_at', old, row)} or ${isNew('cancel_requested_at', old, row)}`,
    action: (old, row) => `case when ${isNew('deleted_at', old, row)} then 'delete'
      when ${isNew('cancel_requested_at', old, row)} then 'cancel' else 'update' end`,
    events: ['insert', 'update'],
  },
  // Names and keys only, nothing of what is stored.
  { table: 'secrets', kind: 'secret', key: ['name', 'key'], hides: true },
  {
    table: 'tokens',
    kind: 'token',
    key: ['id'],
    name: (row) => `${row}.name`,
    columns: [
      { column: 'id', show: (reference) => `${reference}::text` },
      'role',
      'component',
      time('expires_at'),
      time('revoked_at'),
    ],
    // Its column names who made it.
    writer: (row, action) => (action === 'create' ? `${row}.actor` : 'null::text'),
    updated: (old, row) => isNew('revoked_at', old, row),
    action: () => `'revoke'`,
    events: ['insert', 'update'],
  },
  {
    table: 'schedules',
    kind: 'schedule',
    key: ['id'],
    name: (row) => `${row}.name`,
    record: { column: 'record', without: ['name'] },
    columns: ['paused', 'pause_note'],
    // Each write of a user raises it; how far the engine has followed does not.
    updated: (old, row) => `${row}.revision <> ${old}.revision`,
  },
  // Started by hand, out of turn.
  {
    table: 'schedule_runs',
    kind: 'schedule',
    key: ['id'],
    name: (row) => `(select name from schedules where id = ${row}.schedule_id)`,
    writer: (row) => `${row}.requested_by`,
    creation: 'trigger',
    created: (row) => `${row}.by_hand`,
    events: ['insert'],
  },
  {
    table: 'rollouts',
    kind: 'rollout',
    key: ['id'],
    name: (row) => `${row}.configuration`,
    columns: ['version', 'state', 'stage', 'reason'],
    writer: (row) =>
      `case when ${row}.state = 'stopped' then coalesce(${row}.stopped_by, 'batcher') else ${row}.resumed_by end`,
    updated: (old, row) => `(${row}.state = 'stopped') <> (${old}.state = 'stopped')`,
    action: (_old, row) => `case when ${row}.state = 'stopped' then 'stop' else 'resume' end`,
    events: ['update'],
  },
  {
    table: 'batcher_state',
    kind: 'batcher',
    key: ['single'],
    name: () => `'batcher'`,
    ...pausable,
    events: ['update'],
  },
  {
    table: 'batch_keys',
    kind: 'batch_key',
    key: ['key'],
    ...pausable,
    created: (row) => `${row}.paused`,
    events: ['insert', 'update'],
  },
  // Who may sign the certificates of sessions.
  {
    table: 'trust_authorities',
    kind: 'trust_authority',
    key: ['public_key'],
    columns: [time('since'), time('replaced_at')],
    writer: () => 'null::text',
  },
];

function isNew(column: string, old: string, row: string): string {
  return `(${row}.${column} is not null and ${old}.${column} is null)`;
}

/** Records of all that users, and Muster by itself, have changed, and when a host's result was stored. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table audit (
      id bigint generated always as identity,
      at timestamptz not null,
      actor text,
      action text not null,
      kind text not null,
      name text collate "C" not null,
      before jsonb,
      after jsonb,
      request_id text,
      via text,
      primary key (at, id)
    )`,
    'create index audit_subject on audit (kind, name, at, id)',
    'create index audit_actor on audit (actor, at, id)',
    // Updates are nearly all; what else there is, is looked for among them.
    `create index audit_action on audit (action, at, id) where action <> 'update'`,
    // Who asked, with which request: the comment in front of the statement (see store/connection/attribution.ts).
    `create function audit_writer() returns jsonb language sql stable as $$
      select coalesce(convert_from(decode(
        substring(left(current_query(), 4000) from '^/\\*muster ([A-Za-z0-9+/=]+)\\*/'), 'base64'), 'UTF8')::jsonb, '{}') $$`,
    // Between the strings of a JSON text there is always a blank, so no match goes beyond one.
    `create function audit_masked(value jsonb) returns jsonb language sql immutable as $$
      select case when value::text like '%://%@%' then regexp_replace(regexp_replace(value::text,
        '(://[^\\s/:@]*):[^\\s/]*@', '\\1:***@', 'g'), '(https?://)[^\\s/:@]+@', '\\1***@', 'gi')::jsonb else value end $$`,
    `create function audit_members(value jsonb, other jsonb) returns jsonb language sql immutable as $$
      select coalesce(jsonb_object_agg(m.key, m.value), '{}') from jsonb_each(value) as m
      where other -> m.key is distinct from m.value $$`,
    `create function audit_entries(value jsonb, other jsonb) returns jsonb language sql immutable as $$
      select coalesce(jsonb_agg(entry order by place), '[]') from jsonb_array_elements(value) with ordinality as e(entry, place)
      where not exists (select from jsonb_array_elements(other) as o(entry) where o.entry = e.entry) $$`,
    ...AUDITED.flatMap(auditTriggers),
    // What the timeline of a component reads beside them.
    'alter table host_results add column stored_at timestamptz, add column taken_as text',
    `update host_results set stored_at = date_trunc('milliseconds', coalesce(runs.recorded_at, runs.ended_at, runs.created_at)),
      taken_as = case when recorded then status end from runs where runs.id = host_results.run_id`,
    `update host_results set stored_at = date_trunc('milliseconds', now()) where stored_at is null`,
    `alter table host_results alter column stored_at set not null,
      alter column stored_at set default date_trunc('milliseconds', clock_timestamp())`,
    'create index host_results_host on host_results (host, stored_at, run_id)',
    `create index sessions_batch_hosts on sessions using gin (string_to_array(ansible_limit, ',')) where actor = 'batcher'`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
