import { type Kysely, sql } from 'kysely';

/** Images that sessions customise: the job of each at the image service, where its shell is, and what came of it. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table session_images (
      session_id uuid not null references sessions (id) on delete cascade,
      image_id text collate "C" not null,
      place integer not null,
      result_name text not null,
      public_key_id text,
      job_id text,
      posted boolean not null default false,
      host text,
      port integer,
      state text not null,
      result_id text,
      message text not null,
      created_at timestamptz not null,
      started_at timestamptz,
      finishing_at timestamptz,
      updated_at timestamptz not null,
      released_at timestamptz,
      primary key (session_id, image_id)
    )`,
    'create index session_images_unreleased on session_images (session_id) where released_at is null',
    'create index session_images_job on session_images (job_id)',
    `alter table sessions add column ims_jobs text[] not null default '{}'`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
