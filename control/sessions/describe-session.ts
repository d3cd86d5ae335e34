import type { SessionDetail, SessionItem } from '../../domain/sessions/detail-schema.ts';
import { type LogBases, logsLink, toSession } from '../../domain/sessions/record.ts';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import type { Db } from '../../store/connection/database.ts';
import { countHostsByStatus, countHostsOfSessions, readFailures } from '../../store/runs/host-result-reads.ts';
import { listSessionImages } from '../../store/sessions/session-images.ts';
import { readAttempts, readShownJob } from '../../store/sessions/session-reads.ts';
import { countQueuedBefore, findRetriesOf, findSessionById, type SessionRow } from '../../store/sessions/sessions.ts';
import { sessionJob } from './cluster/describe-job.ts';
import { withSlotWaits } from './slot-waits.ts';
import type { SummaryReader } from './summary-reader.ts';

export interface SessionLinkBases extends LogBases {
  /** Base of Temporal's web UI and the namespace there. */
  temporal: { url: string; namespace: string } | undefined;
}

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** An entry of the list: the CFS record, how far the engine is, and how its hosts ended. */
function sessionItem(row: SessionRow, bases: LogBases, hosts: SessionItem['hosts'] = NO_HOSTS): SessionItem {
  return {
    ...toSession(row, logsLink(row.name, bases)),
    id: row.id,
    phase: row.phase,
    layer: row.layer,
    attempt: row.attempt,
    reason: row.reason === null ? null : { code: row.reason, message: row.message },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    started_at: row.start_time.toISOString(),
    ended_at: iso(row.completion_time),
    hosts,
  };
}

const NO_HOSTS = { applied: 0, failed: 0, incomplete: 0 };

/**
 * The entries of a list, read as they are asked for.
 * @param note takes each entry with the row that it shows
 */
export async function* describedItems(
  db: Db,
  batches: AsyncGenerator<SessionRow[], void>,
  bases: LogBases,
  note: (item: SessionItem, row: SessionRow) => void,
): AsyncGenerator<SessionItem[], void> {
  for await (const rows of batches) {
    const hosts = await countHostsOfSessions(
      db,
      rows.map(({ id }) => id),
    );
    yield rows.map((row) => {
      const item = sessionItem(row, bases, hosts.get(row.id));
      note(item, row);
      return item;
    });
  }
}

/** The page of the session's workflow in Temporal's web UI; null where its address is not known. */
function temporalLink(row: SessionRow, { temporal }: SessionLinkBases): string | null {
  if (temporal === undefined) return null;
  const { url, namespace } = temporal;
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(sessionWorkflowId(row))}`;
}

/** Everything about one session. */
export async function describeSession(
  deps: { db: Db; summaries: SummaryReader; bases: SessionLinkBases; clock(): Date },
  row: SessionRow,
): Promise<SessionDetail> {
  const { db, bases } = deps;
  const waits = row.stage === 'queued' && row.status !== 'complete' && row.cancel_requested_at === null;
  const [[shown = row], before, attempts, hosts, retries, original, summary, images, job] = await Promise.all([
    withSlotWaits(db, [row], deps.clock()),
    waits ? countQueuedBefore(db, row.queue) : null,
    readAttempts(db, row.id),
    countHostsByStatus(db, row.id),
    findRetriesOf(db, row.id),
    row.retry_of === null ? null : findSessionById(db, row.retry_of),
    deps.summaries.read(row.id),
    row.target.definition === 'image' ? listSessionImages(db, row.id) : [],
    readShownJob(db, row.id),
  ]);
  const self = `${bases.api}/api/v1/sessions/${row.name}`;
  return {
    ...sessionItem(shown, bases),
    admitted_at: iso(row.admitted_at),
    queue: before === null ? null : { place: before + 1 },
    attempts: attempts.map(({ id, ...run }) => ({
      run_id: id,
      layer: run.layer,
      attempt: run.attempt,
      state: run.state,
      exit_code: run.exit_code,
      error: run.error,
      created_at: run.created_at.toISOString(),
      started_at: iso(run.started_at),
      ended_at: iso(run.ended_at),
    })),
    images: images.map((image) => ({
      image_id: image.image_id,
      result_name: image.result_name,
      state: image.state,
      message: image.message,
      job: image.job_id,
      result_id: image.result_id,
      updated_at: image.updated_at.toISOString(),
    })),
    job: job === null ? null : sessionJob(job),
    snapshot: row.snapshot,
    counts: { ...summary.counts },
    hosts,
    failures: hosts.failed === 0 ? [] : await readFailures(db, row.id),
    absent_hosts: row.absent_hosts,
    retry_of: original === null ? null : { id: original.id, name: original.name },
    retried_by: retries,
    cancel:
      row.cancel_requested_at === null
        ? null
        : {
            requested_at: row.cancel_requested_at.toISOString(),
            reason: row.cancel_reason ?? '',
            actor: row.cancel_actor,
          },
    actor: row.actor,
    updated_by: row.updated_by,
    links: {
      self,
      logs: `${self}/logs`,
      events: `${self}/events`,
      hosts: `${self}/hosts`,
      progress: `${self}/progress`,
      temporal: temporalLink(row, bases),
    },
  };
}
