import { failureWrite } from '../../domain/batches/member-writes.ts';
import type { Send } from '../../domain/batches/plan-sends.ts';
import { isPlainHostName } from '../../domain/components/host-names.ts';
import type { Component } from '../../domain/components/schema.ts';
import { isMusterError } from '../../domain/errors.ts';
import { markHoldProbe, readBases } from '../../store/batches/batch-holds.ts';
import { isPaused, markKeyProbe, markProbe } from '../../store/batches/batcher-state.ts';
import {
  type BatchRow,
  deleteBatch,
  dropMembers,
  lockBatch,
  markEnded,
  markSent,
  membersOf,
  noteRefusal,
} from '../../store/batches/batches.ts';
import { lockComponents } from '../../store/components/components.ts';
import { shareConfiguration } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendEntries } from '../components/append-entries.ts';
import { batchSessionName } from './batch-session-name.ts';
import { BATCHER, type PassDependencies } from './batcher-ports.ts';
import { readDesiredDigests } from './desired-digest.ts';
import { heldMembers } from './held-members.ts';
import { joinRollout } from './join-rollout.ts';
import { LeasesTaken, makeBatchSession } from './make-batch-session.ts';

/** `left`: nobody was left in it; `held`: its rollout has no room any more, or nothing is sent now; `refused`: no session could be made, the next pass tries again. */
export type SendOutcome = 'sent' | 'left' | 'held' | 'refused';

/**
 * Makes the session of a batch (cfs-flows 5.2.c) in one transaction. It locks the members and reads them again; a member that no longer belongs to
 * the batch leaves it. Session, leases and the mark `sent` are written together, or not at all.
 */
export async function sendBatch(deps: PassDependencies, send: Send): Promise<SendOutcome> {
  const { db, dispatcher, log } = deps;
  try {
    const outcome = await db.transaction().execute((trx) => sendLocked(trx, deps, send));
    if (outcome === 'sent') dispatcher.kick();
    return outcome;
  } catch (error) {
    if (!(error instanceof LeasesTaken || isMusterError(error))) throw error;
    log.warn({ batch: send.batch, err: error.message }, 'a batch could not be sent');
    await noteRefusal(db, send.batch, error.message);
    return 'refused';
  }
}

async function sendLocked(trx: PassDependencies['db'], deps: PassDependencies, send: Send): Promise<SendOutcome> {
  const { options, clock } = deps;
  const now = clock();
  const batch = await lockBatch(trx, send.batch, 'open');
  if (batch === null) return 'left';
  // The pass that planned it may have begun before the pause.
  if (await isPaused(trx)) return 'held';
  // It may change when the session has been made from it, not in between.
  await shareConfiguration(trx, batch.configuration);
  const desired = (await readDesiredDigests(trx, [batch.configuration], options)).get(batch.configuration) ?? '';
  const name = batchSessionName(batch.id, batch.tries);
  const { hosts, nameless } = await takeHeld(trx, batch, name, options, now);
  if (hosts.length > 0) {
    const components = hosts.map(({ id }) => id);
    const joining = { id: batch.id, configuration: batch.configuration, desired, components };
    if (!(await joinRollout(trx, joining, options))) return 'held';
    const sessionId = await makeBatchSession(trx, { batch, name, components: hosts, clock });
    const basis = (await readBases(trx, [batch.configuration])).get(batch.configuration) ?? '';
    await markSent(trx, batch.id, { sessionId, sessionName: name, desired, basis, now });
    if (send.probe) await markProbe(trx, batch.id);
    if (send.keyProbe) await markKeyProbe(trx, batch.key, batch.id);
    if (send.holdProbe) await markHoldProbe(trx, batch.key, batch.id);
    return 'sent';
  }
  const reason = 'none of its components has a name that a host can have';
  if (nameless > 0) await markEnded(trx, batch.id, { verdict: 'failed', fault: null, reason, desired, now });
  else await deleteBatch(trx, batch.id);
  return 'left';
}

/**
 * The components that the batch still holds, locked; all others leave it. Those that no inventory can name would be absent in
 * the session, so they get what an absent one gets: the failure entry.
 */
async function takeHeld(
  trx: Db,
  batch: BatchRow,
  session: string,
  options: PassDependencies['options'],
  now: Date,
): Promise<{ hosts: Component[]; nameless: number }> {
  const ids = await membersOf(trx, batch.id);
  const locked = await lockComponents(trx, ids);
  const held = await heldMembers(trx, batch.key, locked.values(), options);
  const nameless = held.filter(({ id }) => !isPlainHostName(id));
  const writes = nameless.flatMap((member) => failureWrite(member, { name: session, layers: batch.layers }) ?? []);
  await appendEntries(trx, locked, writes, { actor: BATCHER, now });
  const hosts = held.filter(({ id }) => isPlainHostName(id)).flatMap(({ id }) => locked.get(id)?.component ?? []);
  const staying = new Set(hosts.map(({ id }) => id));
  await dropMembers(
    trx,
    batch.id,
    ids.filter((id) => !staying.has(id)),
  );
  return { hosts, nameless: nameless.length };
}
