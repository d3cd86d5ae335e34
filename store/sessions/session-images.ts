/** The images of sessions: what was asked of the image service for each, and what came of it. */
import { type Selectable, sql } from 'kysely';
import { KEPT_IMAGE_STATES } from '../../domain/sessions/images/image-progress.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';
import { announceStream } from '../runs/streams.ts';
import type { SessionImagesTable } from './tables.ts';

export type SessionImageRow = Selectable<SessionImagesTable>;

/** Records the images of a session with the names of their results; those that are there stay as they are. */
export async function saveSessionImages(
  db: Db,
  sessionId: string,
  images: readonly { image: string; resultName: string }[],
  now: Date,
): Promise<void> {
  if (images.length === 0) return;
  await db
    .insertInto('session_images')
    .values(
      images.map(({ image, resultName }, place) => ({
        session_id: sessionId,
        image_id: image,
        place,
        result_name: resultName,
        state: 'waiting' as const,
        message: '',
        created_at: now,
        updated_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The images of a session, in order. */
export async function listSessionImages(db: Db, sessionId: string): Promise<SessionImageRow[]> {
  return db.selectFrom('session_images').selectAll().where('session_id', '=', sessionId).orderBy('place').execute();
}

export async function findSessionImage(db: Db, sessionId: string, image: string): Promise<SessionImageRow | null> {
  const query = db.selectFrom('session_images').selectAll().where('session_id', '=', sessionId);
  return (await query.where('image_id', '=', image).executeTakeFirst()) ?? null;
}

/** Which of these jobs belong to some session. */
export async function findKnownImageJobs(db: Db, jobs: readonly string[]): Promise<Set<string>> {
  if (jobs.length === 0) return new Set();
  const query = db.selectFrom('session_images').select('job_id');
  // One value, not one for each: a service may have more jobs than a statement takes values.
  const rows = await query.where(sql<boolean>`job_id = any(${jobs}::text[])`).execute();
  return new Set(rows.flatMap(({ job_id }) => (job_id === null ? [] : [job_id])));
}

/** What can change of an image. */
export type SessionImageChange = Partial<
  Pick<SessionImageRow, 'host' | 'port' | 'state' | 'message' | 'started_at' | 'finishing_at'>
>;

/** What a new image has come of, and what was released, stays as it is: who is late with a change was given up by the engine. */
export async function writeSessionImage(
  db: Db,
  sessionId: string,
  image: string,
  change: SessionImageChange,
  now: Date,
): Promise<void> {
  await db
    .updateTable('session_images')
    .set({ ...change, updated_at: now })
    .where('session_id', '=', sessionId)
    .where('image_id', '=', image)
    .where('state', '<>', 'customized')
    .where('released_at', 'is', null)
    .execute();
}

/** Notes that the job of an image is asked for; false when the session's images were released: then nobody is to ask. */
export async function writeImagePosted(db: Db, sessionId: string, image: string, now: Date): Promise<boolean> {
  const asked = await db
    .updateTable('session_images')
    .set({ posted: true, posted_at: now, updated_at: sql<Date>`case when posted then updated_at else ${now} end` })
    .where('session_id', '=', sessionId)
    .where('image_id', '=', image)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  return asked.numUpdatedRows > 0n;
}

/** Notes that the key of a session is asked for: one may be there although nobody has its id. */
export async function writeImageKeyPosted(db: Db, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('session_images').set({ posted_at: now }).where('session_id', '=', sessionId).execute();
}

/**
 * Records the session's key at the image service; the jobs that were made with it are known by it. One that comes after the release is to be
 * released too.
 */
export async function writeImageKey(db: Db, sessionId: string, keyId: string): Promise<void> {
  await db
    .updateTable('session_images')
    .set({
      public_key_id: keyId,
      // Of the key nothing more is to come; of a job that was asked for there may.
      posted_at: sql<Date | null>`case when posted then posted_at end`,
      released_at: null,
    })
    .where('session_id', '=', sessionId)
    .execute();
}

/**
 * Records the job of an image, with the session too: `ims_job` is the last one that was made, `ims_jobs` are all. One that comes after the release
 * is to be released too.
 * @param sole whether it answers the only request for it: then no other can appear
 */
export async function writeImageJob(
  db: Db,
  sessionId: string,
  image: string,
  job: string,
  now: Date,
  sole = false,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('session_images')
      .set({
        job_id: job,
        state: 'preparing',
        updated_at: now,
        released_at: null,
        ...(sole ? { posted_at: null } : {}),
      })
      .where('session_id', '=', sessionId)
      .where('image_id', '=', image)
      .execute();
    await trx
      .updateTable('sessions')
      .set({
        ims_job: job,
        ims_jobs: sql<string[]>`case when ${job} = any(ims_jobs) then ims_jobs else ims_jobs || ${job}::text end`,
        updated_at: now,
      })
      .where('id', '=', sessionId)
      .execute();
    await announceStream(trx, sessionId);
  });
}

/** Notes when the job of an image was last seen to wait for its turn. That is nothing new: `updated_at` stays. */
export async function writeImageQueued(db: Db, sessionId: string, image: string, now: Date): Promise<void> {
  await db
    .updateTable('session_images')
    .set({ queued_at: now })
    .where('session_id', '=', sessionId)
    .where('image_id', '=', image)
    .execute();
}

/** Notes that nothing of a session is left to end at the image service. */
export async function writeImageReleased(db: Db, sessionId: string, now: Date): Promise<void> {
  await sql`
    update session_images set released_at = ${now},
      state = case when state in ${literals(KEPT_IMAGE_STATES)} then state else 'dropped' end
    where session_id = ${sessionId} and released_at is null
  `.execute(db);
}

/** What a finished image adds to the artifacts of its session. */
export interface ImageArtifact {
  image_id: string;
  result_id: string;
  type: string;
}

/** Records what came of an image, and once the artifact of the session. */
export async function writeImageResult(db: Db, sessionId: string, artifact: ImageArtifact, now: Date): Promise<void> {
  const entry = JSON.stringify([artifact]);
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('session_images')
      .set({ state: 'customized', result_id: artifact.result_id, message: '', updated_at: now })
      .where('session_id', '=', sessionId)
      .where('image_id', '=', artifact.image_id)
      .execute();
    await sql`
      update sessions set artifacts = artifacts || ${entry}::jsonb, updated_at = ${now}
      where id = ${sessionId} and not artifacts @> ${entry}::jsonb
    `.execute(trx);
    await announceStream(trx, sessionId);
  });
}

/**
 * Sessions whose work has ended and that have left something at the image service. In another order each time: whoever has time for
 * some of them only gets to all of them in the end.
 */
export async function sessionsWithLeftImages(db: Db, limit: number): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'name'])
    .where('stage', '=', 'ended')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('session_images')
          .select('session_images.session_id')
          .whereRef('session_images.session_id', '=', 'sessions.id')
          .where('released_at', 'is', null),
      ),
    )
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
}

/**
 * Deleted sessions that are to be purged and have jobs at the image service, with these, in another order each time; the row of an image
 * keeps its job until that is deleted.
 */
export async function deletedSessionsWithJobs(
  db: Db,
  limit: number,
): Promise<{ id: string; name: string; jobs: string[] }[]> {
  const { rows } = await sql<{ id: string; name: string; jobs: string[] }>`
    select s.id, s.name, array_agg(i.job_id order by i.place) as jobs
    from sessions s join session_images i on i.session_id = s.id and i.job_id is not null
    where s.deleted_at is not null and s.purged_at is null and s.stage = 'ended'
    group by s.id, s.name order by random() limit ${limit}
  `.execute(db);
  return rows;
}

/** Notes that jobs of a deleted session are deleted. What is still to be released keeps its job: by it the release knows what it ended. */
export async function forgetSessionJobs(db: Db, sessionId: string, jobs: readonly string[]): Promise<void> {
  await db
    .updateTable('session_images')
    .set({ job_id: null })
    .where('session_id', '=', sessionId)
    .where(sql<boolean>`job_id = any(${[...jobs]}::text[])`)
    .where('released_at', 'is not', null)
    .execute();
}
