import type {
  Batch,
  BatchDetail,
  Batcher,
  BatcherDetail,
  BatchKey,
  BatchListQuery,
} from '../../domain/batches/batch-schema.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import { countHolds } from '../../store/batches/batch-holds.ts';
import {
  countBatches,
  countLeasedCandidates,
  countUsedUp,
  findBatch,
  limitOfSession,
  pageBatches,
  readAbsentConfigurations,
  type ShownBatch,
} from '../../store/batches/batch-reads.ts';
import { readBatcherState } from '../../store/batches/batcher-state.ts';
import { membersOf } from '../../store/batches/batches.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { detailOfBatcher, type Standing, viewOfBatch, viewOfBatcher, viewOfKeys } from './batch-view.ts';
import { readPlan } from './read-plan.ts';

export interface ReadBatchesDependencies {
  db: Db;
  clock(): Date;
}

/** How the batcher is; cheap however much it holds. */
export async function readBatcher({ db, clock }: ReadBatchesDependencies): Promise<Batcher> {
  const [state, counts, held, options] = await Promise.all([
    readBatcherState(db),
    countBatches(db),
    countHolds(db),
    readOptions(db),
  ]);
  return viewOfBatcher(state, { ...counts, ...held }, options, clock());
}

/** The batcher with what it waits for. */
export async function readBatcherDetail({ db, clock }: ReadBatchesDependencies): Promise<BatcherDetail> {
  const now = clock();
  const options = await readOptions(db);
  const [plan, standing] = await Promise.all([readPlan(db, options, now), readStanding(db, options)]);
  return detailOfBatcher(plan, standing, options, now);
}

/** The components that stand in no batch, by why. */
async function readStanding(db: Db, options: Options): Promise<Standing> {
  const [leased, failed, absent] = await Promise.all([
    countLeasedCandidates(db, options),
    countUsedUp(db, options),
    readAbsentConfigurations(db, options),
  ]);
  return { leased, failed, absent };
}

/** A page of the batches, why those that are not sent are not, and the place after which the next page begins. */
export async function listBatches(
  { db, clock }: ReadBatchesDependencies,
  query: BatchListQuery,
): Promise<{ batcher: BatcherDetail; batches: Batch[]; after: string | null }> {
  const { state, key, configuration, limit, after_id } = query;
  const now = clock();
  const options = await readOptions(db);
  const [plan, standing, rows] = await Promise.all([
    readPlan(db, options, now),
    readStanding(db, options),
    pageBatches(db, {
      states: state === 'live' ? ['open', 'sent'] : [state],
      key,
      configuration,
      after: after_id === '' ? null : placeOf(after_id),
      limit: limit + 1,
    }),
  ]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    batcher: detailOfBatcher(plan, standing, options, now),
    batches: page.map((row) => viewOfBatch(row, plan)),
    after: rows.length > limit && last !== undefined ? cursorOf(last) : null,
  };
}

/** A page of what is known of the keys, and whether there is more. */
export async function listBatchKeys(
  { db, clock }: ReadBatchesDependencies,
  { after_id, limit }: { after_id: string; limit: number },
): Promise<{ keys: BatchKey[]; more: boolean }> {
  const keys = viewOfKeys(await readPlan(db, await readOptions(db), clock()));
  const rest = keys.filter(({ key }) => key > after_id);
  return { keys: rest.slice(0, limit), more: rest.length > limit };
}

/** One batch with its components. Throws `batch_not_found`. */
export async function getBatch({ db, clock }: ReadBatchesDependencies, id: string): Promise<BatchDetail> {
  const row = isWrittenUuid(id) ? await findBatch(db, id) : null;
  if (row === null) throw musterError('batch_not_found', `Batch ${id} could not be found`);
  const plan = await readPlan(db, await readOptions(db), clock());
  return { ...viewOfBatch(row, plan), members: await membersNowOrThen(db, row) };
}

async function membersNowOrThen(db: Db, row: ShownBatch): Promise<string[] | null> {
  if (row.state !== 'ended') return membersOf(db, row.id);
  return row.session_id === null ? null : limitOfSession(db, row.session_id);
}

function placeOf(cursor: string): { at: Date; id: string } {
  const end = cursor.indexOf('-');
  return { at: new Date(Number(cursor.slice(0, end))), id: cursor.slice(end + 1) };
}

function cursorOf(row: ShownBatch): string {
  return `${(row.ended_at ?? row.opened_at).getTime()}-${row.id}`;
}
