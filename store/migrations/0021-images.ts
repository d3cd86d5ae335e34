import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers } from './audited-table.ts';

export const AUDITED_IMAGES: readonly AuditedTable[] = [
  {
    table: 'images',
    kind: 'image',
    key: ['id'],
    name: (row) => `${row}.id::text`,
    columns: ['name', 'arch', 'link', 'metadata'],
  },
  {
    table: 'image_public_keys',
    kind: 'image_public_key',
    key: ['id'],
    name: (row) => `${row}.id::text`,
    columns: ['name', 'public_key'],
  },
  // What a job does by itself is its record; here is who made and who deleted it.
  {
    table: 'image_jobs',
    kind: 'image_job',
    key: ['id'],
    name: (row) => `${row}.id::text`,
    columns: ['status', 'request'],
    updated: (old, row) => `${row}.deleted_at is not null and ${old}.deleted_at is null`,
    action: () => `'delete'`,
    events: ['insert', 'update'],
  },
];

/** Images, public keys and image jobs of the built-in image service, the machines that work on them, and the ports of their shells. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table images (
      id uuid primary key,
      name text collate "C" not null,
      arch text not null,
      link jsonb,
      metadata jsonb not null default '{}',
      store_id uuid,
      format text,
      size bigint,
      sha256 text,
      made_by uuid,
      made_from uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    'create index images_listed on images (name, id)',
    `create table image_public_keys (
      id uuid primary key,
      name text collate "C" not null,
      public_key text not null,
      created_at timestamptz not null,
      actor text
    )`,
    'create index image_public_keys_name on image_public_keys (name)',
    `create table image_jobs (
      id uuid primary key,
      image_id uuid not null,
      request jsonb not null,
      arch text not null,
      public_key text not null,
      status text not null,
      message text not null default '',
      store_id uuid not null,
      queue text,
      working boolean not null default false,
      host text,
      port integer,
      result_id uuid not null,
      resultant_image_id uuid,
      created_at timestamptz not null,
      waiting_since timestamptz,
      ended_at timestamptz,
      deleted_at timestamptz,
      cleaned boolean not null default false,
      actor text
    )`,
    'create index image_jobs_listed on image_jobs (created_at, id)',
    'create index image_jobs_open on image_jobs (id) where not cleaned',
    // A port is no other job's for some time after its job is over: clients remember whose it was.
    `create table image_ports (
      queue text not null,
      port integer not null,
      job_id uuid not null,
      released_at timestamptz,
      primary key (queue, port)
    )`,
    `create table image_workers (
      store_id uuid not null,
      queue text not null,
      able boolean not null,
      reason text not null default '',
      seen_at timestamptz not null,
      primary key (store_id, queue)
    )`,
    ...AUDITED_IMAGES.flatMap(auditTriggers),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
