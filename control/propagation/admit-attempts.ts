import { randomUUID } from 'node:crypto';
import { type Admitted, admit } from '../../domain/propagation/admission.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type Candidate,
  findCandidates,
  findReady,
  findRunning,
  forgetWaits,
  hasReady,
  lockLeases,
  noteWaits,
  type Ready,
  takeLeases,
} from '../../store/propagation/leases.ts';
import { insertAttempts } from '../../store/propagation/plan-attempts.ts';
import { findNodes, writeNodes } from '../../store/propagation/plan-nodes.ts';
import type { DrivenPlan } from '../../store/propagation/plan-tables.ts';
import { changeOf } from './node-change.ts';

/** Candidates that are looked at together. */
const PAGE = 200;

/**
 * Starts attempts of nodes that are to run, as far as there is room: in the plan, and for their targets and resources in all plans. The
 * leases of an attempt are taken together or not at all. Returns what is left of them.
 */
export async function admitAttempts(trx: Db, plan: DrivenPlan, now: Date): Promise<Ready> {
  if (!(await hasReady(trx, plan.id))) {
    await forgetWaits(trx, plan.id);
    return { waits: false, retry_at: null };
  }
  await lockLeases(trx);
  const running: Admitted[] = await findRunning(trx, plan.id);
  const limits = { items: plan.items_limit, types: plan.type_limits };
  while (running.length < limits.items) {
    const fullTypes = typesAtLimit(running, limits.types);
    const candidates = await findCandidates(trx, plan.id, { limit: PAGE, fullTypes, now });
    const admitted = admit(candidates, running, limits);
    if (admitted.length === 0) break;
    await begin(trx, plan, admitted, now);
    running.push(...admitted);
    // Those behind a full page may have other targets.
    if (candidates.length < PAGE) break;
  }
  await noteWaits(trx, plan.id, now);
  return findReady(trx, plan.id, now);
}

function typesAtLimit(running: readonly Admitted[], types: Readonly<Record<string, number>>): string[] {
  return Object.keys(types).filter((type) => {
    return running.filter((node) => node.type === type).length >= (types[type] ?? 0);
  });
}

async function begin(trx: Db, plan: DrivenPlan, admitted: readonly Candidate[], now: Date): Promise<void> {
  const nodes = await findNodes(
    trx,
    plan.id,
    admitted.map(({ number }) => number),
  );
  const started = nodes.map((node) => ({ node, id: randomUUID() }));
  await insertAttempts(
    trx,
    started.map(({ node, id }) => ({
      ...{ id, plan: plan.id, node: node.number, number: node.attempts + 1, state: 'open', created_at: now },
      target: node.target,
    })),
  );
  await takeLeases(
    trx,
    started.flatMap(({ node: { target, resource }, id }) => {
      const lease = { attempt: id, plan: plan.id, taken_at: now };
      const ofResource = { kind: 'resource' as const, key: resource, ...lease };
      return target === null ? [ofResource] : [ofResource, { kind: 'target' as const, key: target, ...lease }];
    }),
  );
  await writeNodes(
    trx,
    plan.id,
    started.map(({ node, id }) =>
      changeOf(node, {
        ...{ status: 'in_progress', step: null, attempts: node.attempts + 1, attempt: id, ready_at: null },
        ...{ start_time: node.start_time ?? now, reason: null },
      }),
    ),
  );
  for (const { status } of nodes) {
    plan.counts[status] -= 1;
    plan.counts.in_progress += 1;
  }
}
