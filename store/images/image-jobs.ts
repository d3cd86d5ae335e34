/** Image jobs, and the machines that work on them. */
import { type Selectable, sql } from 'kysely';
import type { ImageJobStatus } from '../../domain/images/image-service.ts';
import type { JobType } from '../../domain/images/image-words.ts';
import type { ImageJobRequest } from '../../domain/images/job-defaults.ts';
import { isEnd, statusesBefore } from '../../domain/images/job-status.ts';
import { NEW_PLACE_SECONDS } from '../../domain/images/job-turn.ts';
import type { Db } from '../connection/database.ts';
import type { ImageJobsTable, ImageWorkersTable } from './tables.ts';

export type ImageJobRow = Selectable<ImageJobsTable>;
export type ImageWorkerRow = Selectable<ImageWorkersTable>;

export type NewImageJobRow = Pick<
  ImageJobRow,
  'id' | 'image_id' | 'format' | 'request' | 'arch' | 'public_key' | 'store_id' | 'result_id' | 'created_at' | 'actor'
>;

/** Records a job, which has its place in line from now on. */
export async function insertImageJob(db: Db, job: NewImageJobRow): Promise<ImageJobRow> {
  const line = {
    turn_wanted_at: job.created_at,
    place_until: new Date(job.created_at.getTime() + NEW_PLACE_SECONDS * 1_000),
  };
  return db
    .insertInto('image_jobs')
    .values({ ...job, ...line, request: JSON.stringify(job.request), status: 'creating', message: '' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The job of an id, unless it is deleted. */
export async function findImageJob(db: Db, id: string): Promise<ImageJobRow | null> {
  const row = await anyImageJob(db, id);
  return row?.deleted_at === null ? row : null;
}

/** The same for this transaction: whoever changes or deletes it meanwhile waits. */
export async function lockImageJob(db: Db, id: string): Promise<ImageJobRow | null> {
  const job = db.selectFrom('image_jobs').selectAll().where('id', '=', id).where('deleted_at', 'is', null);
  return (await job.forUpdate().executeTakeFirst()) ?? null;
}

/** The job of an id, also one that is deleted but still has something on its machine. */
export async function anyImageJob(db: Db, id: string): Promise<ImageJobRow | null> {
  return (await db.selectFrom('image_jobs').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

export interface ImageJobFilter {
  id?: string | undefined;
  status?: ImageJobStatus | undefined;
  jobType?: JobType | undefined;
  /** Only those that were made then or before. */
  madeBefore?: Date | undefined;
}

/** At most `limit` jobs that are not deleted, oldest first, those after a place (`created`: to the microsecond); null: from the beginning. */
export async function listImageJobs(
  db: Db,
  { after, limit }: { after: { created: string; id: string } | null; limit: number },
): Promise<(ImageJobRow & { place: string })[]> {
  const place = sql<boolean>`(created_at, id) > (${after?.created}::timestamptz, ${after?.id}::uuid)`;
  return db
    .selectFrom('image_jobs')
    .selectAll()
    .select(sql<string>`created_at::text`.as('place'))
    .where('deleted_at', 'is', null)
    .$if(after !== null, (query) => query.where(place))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Marks all jobs that match as deleted, in one statement; answers those that this call deleted. Nobody sees them any more. */
export async function markImageJobsDeleted(
  db: Db,
  { id, status, jobType, madeBefore }: ImageJobFilter,
  now: Date,
): Promise<Pick<ImageJobRow, 'id' | 'cleaned'>[]> {
  return db
    .updateTable('image_jobs')
    .set({ deleted_at: now })
    .where('deleted_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .$if(status !== undefined, (query) => query.where('status', '=', status as ImageJobStatus))
    .$if(jobType !== undefined, (query) => query.where(sql`request ->> 'job_type'`, '=', jobType))
    .$if(madeBefore !== undefined, (query) => query.where('created_at', '<=', madeBefore as Date))
    .returning(['id', 'cleaned'])
    .execute();
}

/** Removes deleted jobs of which nothing is left on their machines. */
export async function forgetImageJobs(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('image_jobs')
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .where('deleted_at', 'is not', null)
    .where('cleaned', '=', true)
    .execute();
}

export interface ImageJobStep {
  message?: string;
  host?: string;
  port?: number;
  waiting_since?: Date;
  ended_at?: Date;
  resultant_image_id?: string;
}

/** Brings a job to a status from one before it; answers whether it is in it now. */
export async function moveImageJob(db: Db, id: string, to: ImageJobStatus, step: ImageJobStep = {}): Promise<boolean> {
  const result = await db
    .updateTable('image_jobs')
    .set({ ...step, status: to, ...(isEnd(to) ? { working: false } : {}) })
    .where('id', '=', id)
    .where('status', 'in', statusesBefore(to))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Says what a job waits for. */
export async function noteOnImageJob(db: Db, id: string, message: string): Promise<void> {
  await db
    .updateTable('image_jobs')
    .set({ message })
    .where('id', '=', id)
    .where('message', '<>', message)
    .where('status', 'not in', ['success', 'error'])
    .execute();
}

/** Notes that nothing of the job is on its machine any more: its turn and its port are free, the port only some time later. */
export async function markImageJobCleaned(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('image_jobs')
    .set({ cleaned: true, working: false })
    .where('id', '=', id)
    .where((row) => row.or([row('status', 'in', ['success', 'error']), row('deleted_at', 'is not', null)]))
    .execute();
  await db
    .updateTable('image_ports')
    .set({ released_at: now })
    .where('job_id', '=', id)
    .where('released_at', 'is', null)
    .execute();
}

/** Jobs that are not over in every sense and were made before a time: for the sweep. */
export async function openImageJobs(db: Db, before: Date): Promise<ImageJobRow[]> {
  return db
    .selectFrom('image_jobs')
    .selectAll()
    .where('created_at', '<', before)
    .where((row) => row.or([row('cleaned', '=', false), row('deleted_at', 'is not', null)]))
    .orderBy('created_at')
    .execute();
}

/** Jobs that have something on a machine, oldest first. */
export async function imageJobsOnDisk(db: Db, queue: string): Promise<Pick<ImageJobRow, (typeof ON_DISK)[number]>[]> {
  return db
    .selectFrom('image_jobs')
    .select(ON_DISK)
    .where('queue', '=', queue)
    .where('cleaned', '=', false)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

const ON_DISK = ['id', 'status', 'waiting_since', 'turn_wanted_at', 'ended_at', 'deleted_at'] as const;

/** Of these ids, those of jobs whose folders are to stay. */
export async function jobsToKeep(db: Db, storeId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('image_jobs')
    .select('id')
    .where('store_id', '=', storeId)
    .where('cleaned', '=', false)
    .where(sql<boolean>`id::text = any(${[...ids]}::text[])`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Keeps others from making jobs of a set until this transaction ends: each counts those that were made before it. */
export async function lockImageJobSet(trx: Db, { public_key_id, shell }: ImageJobRequest): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`image-set/${public_key_id}/${shell.name}`}))`.execute(trx);
}

/** How many jobs that are not over are of one key and one name of the shell: a set, which is to be open as a whole. */
export async function countImageJobSet(db: Db, { public_key_id, shell }: ImageJobRequest): Promise<number> {
  const { count } = await db
    .selectFrom('image_jobs')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('cleaned', '=', false)
    .where('deleted_at', 'is', null)
    .where('status', 'not in', ['success', 'error'])
    .where(sql`request ->> 'public_key_id'`, '=', public_key_id)
    .where(sql`request #>> '{shell,name}'`, '=', shell.name)
    .executeTakeFirstOrThrow();
  return count;
}

/** The oldest of the jobs that are about to read the file of an image; null: none is. */
export async function findReader(db: Db, imageId: string): Promise<string | null> {
  const reader = await db
    .selectFrom('image_jobs')
    .select('id')
    .where('image_id', '=', imageId)
    .where('deleted_at', 'is', null)
    .where('status', 'in', ['creating', 'fetching_image'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return reader?.id ?? null;
}

/** What a machine says of itself; `ports` are those of its shells. */
export type ImageWorkerWord = Omit<ImageWorkerRow, 'able_at' | 'first_port' | 'last_port'> & {
  ports?: readonly [number, number];
};

/** A machine says that it works in a directory, and whether it can; when it last could stays noted. */
export async function noteImageWorker(db: Db, { ports, ...worker }: ImageWorkerWord): Promise<void> {
  const { able, reason, seen_at } = worker;
  // A former release says of a machine that can only that it was seen.
  const before = sql<Date | null>`
    coalesce(image_workers.able_at, case when image_workers.able then image_workers.seen_at end)`;
  const [first_port, last_port] = ports ?? [null, null];
  const now = { able, reason, seen_at, first_port, last_port };
  await db
    .insertInto('image_workers')
    .values({ ...worker, first_port, last_port, able_at: able ? seen_at : null })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'queue']).doUpdateSet({ ...now, able_at: able ? seen_at : before }),
    )
    .execute();
}

/** Machines that work in a directory, the one that spoke last first. */
export async function listImageWorkers(db: Db, storeId: string): Promise<ImageWorkerRow[]> {
  return db
    .selectFrom('image_workers')
    .selectAll()
    .where('store_id', '=', storeId)
    .orderBy('seen_at', 'desc')
    .execute();
}

/** Queues of all machines that spoke since a time. */
export async function liveImageQueues(db: Db, since: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('image_workers')
    .select('queue')
    .distinct()
    .where('able', '=', true)
    .where('seen_at', '>', since)
    .orderBy('queue')
    .execute();
  return rows.map(({ queue }) => queue);
}
