import { afterFailure } from '../../domain/batches/after-failure.ts';
import { afterSuccess } from '../../domain/batches/after-success.ts';
import { judgeSession, type SessionVerdict } from '../../domain/batches/judge-session.ts';
import type { EndedSession, MemberNow, MemberWrite, SessionLayer } from '../../domain/batches/member-writes.ts';
import { lockBatch, markEnded, membersOf } from '../../store/batches/batches.ts';
import { type SentBatch, sentBatches } from '../../store/batches/sent-batches.ts';
import { lockComponents } from '../../store/components/components.ts';
import { releaseLeases } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import { countOne } from '../../store/connection/tallies.ts';
import { readHostsNotReached, readRecordedResults } from '../../store/runs/host-result-reads.ts';
import { deleteSessionRows } from '../../store/sessions/session-queries.ts';
import { lockSession } from '../../store/sessions/sessions.ts';
import { appendEntries } from '../components/append-entries.ts';
import { BATCHER, type PassDependencies } from './batcher-ports.ts';
import { leaveRollout } from './leave-rollout.ts';
import { membersNow } from './members-now.ts';

/** What the batch's session means for the batch now. */
export function verdictOn(
  batch: SentBatch,
  { options, clock }: Pick<PassDependencies, 'options' | 'clock'>,
): SessionVerdict {
  const times = { sentAt: batch.sentAt.getTime(), waitedUntil: batch.waitedUntil?.getTime() ?? null };
  return judgeSession(times, batch.session, clock().getTime(), options.batcher_pending_timeout);
}

/**
 * Ends a sent batch whose session says so: what the end means is written into its members, which are free then; one transaction,
 * judged again in it. A session that is overdue is deleted. Answers whether the batch ended.
 */
export async function endBatch(deps: PassDependencies, id: string): Promise<boolean> {
  const { db, options, clock, dispatcher } = deps;
  const verdict = await db.transaction().execute(async (trx) => {
    const row = await lockBatch(trx, id, 'sent');
    if (row === null) return 'follow';
    // Locked, so that it is not let in, patched or deleted between the judgement and its effect.
    const session = await lockSession(trx, row.session_name ?? '');
    const had = session?.id === row.session_id ? (session?.snapshot.layers ?? []) : [];
    const [batch] = await sentBatches(trx, options.max_running_sessions, id);
    if (batch === undefined) return 'follow';
    const judged = verdictOn(batch, deps);
    if (judged === 'follow') return judged;
    const now = clock();
    if (judged === 'overdue') await deleteOverdue(trx, batch, deps, now);
    if (judged === 'succeeded' || judged === 'failed') await writeMembers(trx, { ...batch, had }, judged, deps, now);
    await leaveRollout(trx, batch, had, options);
    const fault = judged === 'controller' ? (batch.session?.fault ?? null) : null;
    const reason = reasonOf(judged, batch, deps);
    await markEnded(trx, id, { verdict: judged, fault, reason, desired: batch.desired, now });
    await countOne(trx, 'batches_ended', judged === 'succeeded' ? 'success' : 'failure');
    return judged;
  });
  if (verdict === 'overdue') dispatcher.kick();
  return verdict !== 'follow';
}

async function deleteOverdue(trx: Db, batch: SentBatch, { options }: PassDependencies, now: Date): Promise<void> {
  const reason = `it was still pending after ${options.batcher_pending_timeout} s (batcher_pending_timeout)`;
  await deleteSessionRows(trx, { name: batch.sessionName }, { reason, actor: BATCHER, now });
  // It will not be let in any more, so nothing of it will ever touch its hosts.
  if (batch.session?.admitted === false) await releaseLeases(trx, batch.sessionId);
}

async function writeMembers(
  trx: Db,
  batch: SentBatch & { had: readonly SessionLayer[] },
  verdict: 'succeeded' | 'failed',
  { options }: PassDependencies,
  now: Date,
): Promise<void> {
  const locked = await lockComponents(trx, await membersOf(trx, batch.id));
  const members = await membersNow(trx, locked.values(), options, {
    desired: batch.desired,
    had: batch.had,
    admittedAt: batch.session?.admittedAt ?? null,
    absent: batch.session?.absent ?? [],
  });
  const session = {
    name: batch.sessionName,
    layers: batch.layers,
    results: Map.groupBy(await readRecordedResults(trx, batch.sessionId), ({ host }) => host),
    notReached: new Set(await readHostsNotReached(trx, batch.sessionId)),
  };
  await appendEntries(trx, locked, writesOf(verdict, members, session), { actor: BATCHER, now });
}

function writesOf(verdict: 'succeeded' | 'failed', members: MemberNow[], session: EndedSession): MemberWrite[] {
  if (verdict === 'failed') return afterFailure(members, session);
  return members.flatMap((member) => afterSuccess(member, session) ?? []);
}

function reasonOf(verdict: SessionVerdict, batch: SentBatch, { options }: PassDependencies): string {
  if (verdict === 'gone') return 'its session was deleted';
  if (verdict === 'overdue') return `its session was still pending after ${options.batcher_pending_timeout} s`;
  if (batch.session === null) return '';
  const { status, succeeded, message } = batch.session;
  // What it did last is no reason: somebody wrote the result while it was at work.
  return status === 'complete' ? message : `somebody marked its session succeeded ${succeeded} while it was ${status}`;
}
