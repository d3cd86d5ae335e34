import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, boundedAuditFunctions } from './audited-table.ts';
import { PLAN_STREAMS } from './plan-streams.ts';

export const AUDITED_PLANS: readonly AuditedTable[] = [
  {
    table: 'propagation_plans',
    kind: 'plan',
    key: ['id'],
    name: (row) => `${row}.name || '/' || ${row}.id`,
    creation: 'process',
    // What the plan does by itself is no change of a user.
    updated: (old, row) => `${row}.commands <> ${old}.commands`,
    action: (_old, row) => `${row}.command`,
    columns: ['state', 'wish'],
  },
];

/** Plans of propagation: their graphs, what they have frozen, attempts, and the leases that keep attempts apart. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `command`: the last one of a user; `heard`: an advance has read it.
    `create table propagation_plans (
      id uuid primary key,
      place bigint generated always as identity,
      name text not null,
      state text not null,
      wish text,
      command text not null,
      commands integer not null default 0,
      commanded_at timestamptz not null,
      heard boolean not null default true,
      run_number integer not null default 0,
      items_limit integer not null,
      type_limits jsonb not null,
      counts jsonb not null,
      cycles jsonb not null,
      suppressed jsonb not null,
      recovered jsonb not null default '[]',
      unsettled jsonb not null default '[]',
      follow_up jsonb not null default '[]',
      created_at timestamptz not null,
      started_at timestamptz,
      ended_at timestamptz,
      actor text
    )`,
    'create unique index propagation_plans_place on propagation_plans (place)',
    `create index propagation_plans_open on propagation_plans (id) where state in ('running', 'paused')`,
    // Values once for each content.
    `create table propagation_frozen (
      hash text collate "C" primary key,
      value jsonb not null
    )`,
    // `number`: the place in canonical order. `is_idle`: nothing is executed. `open`: edges whose emitter has not ended.
    `create table propagation_plan_nodes (
      plan uuid not null references propagation_plans (id) on delete cascade,
      number integer not null,
      id text collate "C" not null,
      base text collate "C" not null,
      occurrence smallint not null,
      origin text not null,
      resource text collate "C" not null,
      action text collate "C" not null,
      executes text collate "C",
      is_idle boolean not null,
      handler text not null,
      definition text collate "C" not null,
      base_path text not null,
      target text collate "C",
      type text collate "C",
      weight double precision not null,
      rules jsonb not null,
      inputs text collate "C" not null,
      has_item boolean not null,
      differs boolean not null,
      creates boolean not null,
      status text not null,
      outcome text,
      reason text,
      message text,
      code text,
      step text,
      ready_at timestamptz,
      open integer not null,
      attempts integer not null default 0,
      attempts_before integer not null default 0,
      attempt uuid,
      blocked_by jsonb not null default '[]',
      triggered_by jsonb not null default '[]',
      start_time timestamptz,
      end_time timestamptz,
      primary key (plan, number)
    )`,
    'create unique index propagation_plan_nodes_id on propagation_plan_nodes (plan, id)',
    'create index propagation_plan_nodes_base on propagation_plan_nodes (plan, base)',
    `create index propagation_plan_nodes_due on propagation_plan_nodes (plan, number) where step = 'due'`,
    `create index propagation_plan_nodes_ready on propagation_plan_nodes (plan, is_idle, weight desc, id) where step = 'ready'`,
    `create index propagation_plan_nodes_runs on propagation_plan_nodes (plan) where status = 'in_progress'`,
    // `grp`: edges of one group are judged together.
    `create table propagation_plan_edges (
      plan uuid not null references propagation_plans (id) on delete cascade,
      target integer not null,
      grp integer not null,
      source integer not null,
      type text not null,
      on_outcome text,
      primary key (plan, target, grp, source)
    )`,
    'create index propagation_plan_edges_source on propagation_plan_edges (plan, source, target)',
    // `settles`: what is still to be done for the model, `commit` or `fail`.
    `create table propagation_plan_items (
      plan uuid not null references propagation_plans (id) on delete cascade,
      base text collate "C" not null,
      uid uuid not null,
      is_implied boolean not null,
      resource text collate "C" not null,
      action text collate "C" not null,
      diff jsonb not null,
      connections_diff jsonb not null,
      base_path text not null,
      tags text[] collate "C" not null,
      inputs text collate "C" not null,
      connections jsonb not null,
      settles text,
      committed_at timestamptz,
      primary key (plan, base)
    )`,
    'create index propagation_plan_items_settles on propagation_plan_items (plan, base) where settles is not null',
    `create table propagation_attempts (
      id uuid primary key,
      plan uuid not null references propagation_plans (id) on delete cascade,
      node integer not null,
      number integer not null,
      state text not null,
      taken boolean not null default false,
      end_wanted boolean not null default false,
      outcome text,
      code text,
      message text,
      verified boolean not null default true,
      machine text,
      away_since timestamptz,
      created_at timestamptz not null,
      started_at timestamptz,
      ended_at timestamptz
    )`,
    'create unique index propagation_attempts_number on propagation_attempts (plan, node, number)',
    'create index propagation_attempts_open on propagation_attempts (plan) where not taken',
    // `kind`: target or resource.
    `create table propagation_leases (
      kind text not null,
      key text collate "C" not null,
      attempt uuid not null,
      plan uuid not null,
      taken_at timestamptz not null,
      primary key (kind, key)
    )`,
    'create index propagation_leases_attempt on propagation_leases (attempt)',
    'create index propagation_leases_plan on propagation_leases (plan)',
    `create table propagation_lease_waits (
      kind text not null,
      key text collate "C" not null,
      plan uuid not null references propagation_plans (id) on delete cascade,
      since timestamptz not null,
      seen_at timestamptz not null,
      primary key (kind, key, plan)
    )`,
    'create index propagation_lease_waits_plan on propagation_lease_waits (plan)',
    // By hash, since a value may be too long for a tree.
    `create index propagation_resources_location on propagation_resources using hash ((inputs ->> 'location_id'))`,
    `create index propagation_resources_transports on propagation_resources using hash ((inputs ->> 'transports_id'))`,
    ...PLAN_STREAMS,
    ...AUDITED_PLANS.flatMap((table) => [...auditTriggers(table), ...boundedAuditFunctions(table)]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
