/** What of a plan is shown beside its rows: edges in pages, its graph, its attempts, and the streams of both. */

import { musterError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import {
  type GraphCut,
  type GraphView,
  graphView,
  MOST_NODES,
  refuseLargeGraph,
} from '../../domain/propagation/graph-text.ts';
import type { AttemptStreamEnd, AttemptView, PlanStreamEnd } from '../../domain/propagation/plan-request-schema.ts';
import type { PlanEdge } from '../../domain/propagation/plan-schema.ts';
import { runIdOfOwner } from '../../domain/runs/owner.ts';
import type { StreamState } from '../../domain/runs/stream-schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findNamed } from '../../store/propagation/plan-nodes.ts';
import { listEdges } from '../../store/propagation/plan-reads.ts';
import {
  type EdgePlace,
  findBeside,
  findShownAttempts,
  listEdgePage,
  listNodeStates,
  readAttemptStream,
  readPlanStream,
  type ShownAttempt,
} from '../../store/propagation/plan-shown.ts';
import { onePage, type Page } from '../changes/pages.ts';
import { ATTEMPT } from './attempt-owner.ts';
import { nodeOf } from './explain-node.ts';
import { planOf } from './read-plan.ts';
import { attemptNotFound } from './release-leases.ts';

/** Returns a page of the edges of a plan by (from, to, type, on), behind the place of an edge. Throws `plan_not_found`, `bad_request`. */
export async function pageOfEdges(db: Db, id: string, after: string, limit: number): Promise<Page<PlanEdge>> {
  await planOf(db, id);
  const place = after === '' ? null : readPlace(after);
  return onePage(limit, (rows) => listEdgePage(db, id, place, rows));
}

/** Returns the place of an edge as text, which a page begins behind. */
export function placeOf({ from, to, type, on }: PlanEdge): string {
  return `${from} ${to} ${type} ${on ?? ''}`;
}

function readPlace(text: string): EdgePlace {
  const [from, to, type, on, ...more] = text.split(' ');
  if (from === undefined || to === undefined || type === undefined || on === undefined || more.length > 0) {
    throw musterError(
      'bad_request',
      'after_id is no place of an edge: take it from `next` of the page before',
      'after_id',
    );
  }
  return [from, to, type, on];
}

/**
 * Returns the graph of a plan, or what of it is near a node.
 * Throws `plan_not_found`, `node_not_found`, `graph_too_large`.
 */
export async function getGraph(db: Db, id: string, cut: GraphCut | undefined): Promise<GraphView> {
  const { cycles, counts } = await planOf(db, id);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (cut === undefined) refuseLargeGraph(total, cut);
  const near = cut === undefined ? undefined : await numbersNear(db, id, cut);
  const nodes = await listNodeStates(db, id, near);
  const edges = await listEdges(db, id, near);
  const statuses = Object.fromEntries(nodes.map((node) => [node.id, node.status]));
  return graphView({ nodes, edges, cycles, statuses }, cut);
}

/** Looks along edges from a node, no further than can be shown. Returns nothing for a node that is not there. Throws `graph_too_large`. */
async function numbersNear(db: Db, plan: string, cut: GraphCut): Promise<number[]> {
  let edge = (await findNamed(db, plan, [cut.around])).map(({ number }) => number);
  const near = new Set(edge);
  for (let step = 0; step < cut.depth && edge.length > 0; step += 1) {
    // Those that are known already are among them.
    const beside = await findBeside(db, plan, edge, near.size + MOST_NODES + 1);
    edge = beside.filter((number) => !near.has(number));
    for (const number of edge) near.add(number);
    refuseLargeGraph(near.size, cut);
  }
  return [...near];
}

/** Returns the attempts of a node, the first one first. Throws `plan_not_found`, `node_not_found`. */
export async function listNodeAttempts(db: Db, id: string, node: string): Promise<AttemptView[]> {
  const { number } = await nodeOf(db, await planOf(db, id), node);
  return (await findShownAttempts(db, ATTEMPT, { plan: id, node: number })).map(viewOfAttempt);
}

/** Returns an attempt. Throws `attempt_not_found`. */
export async function getAttempt(db: Db, id: string): Promise<AttemptView> {
  const [row] = isUuid(id) ? await findShownAttempts(db, ATTEMPT, { id }) : [];
  if (row === undefined) throw attemptNotFound(id);
  return viewOfAttempt(row);
}

function viewOfAttempt(row: ShownAttempt): AttemptView {
  const { id, plan, node_id: node, number, state, outcome, code, message, machine, run } = row;
  const held = state === 'ended' ? 'held, not verified' : 'held';
  return {
    ...{ id, plan, node, number, state, outcome, code, message, machine, run },
    leases: row.has_leases ? held : null,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

/** Returns the stream of what the run of an attempt tells, also before there is a run. */
export const streamOfAttempt = (id: string): string => runIdOfOwner({ kind: ATTEMPT, id: id.toLowerCase() }, 1);

/** How far the stream of a plan can be read; null when the plan is gone. A plan that was not started is not over. */
export async function readPlanState(db: Db, id: string): Promise<StreamState<PlanStreamEnd> | null> {
  const row = await readPlanStream(db, id);
  if (row === null) return null;
  const { state, lastEvent } = row;
  const over = state !== 'built' && state !== 'running' && state !== 'paused';
  return { lastEvent, lastChunk: 0, over, deleted: false, end: { id, state, deleted: false } };
}

/** How far the stream of an attempt can be read; null when the attempt is gone. */
export async function readAttemptState(db: Db, id: string): Promise<StreamState<AttemptStreamEnd> | null> {
  const row = await readAttemptStream(db, id, streamOfAttempt(id));
  if (row === null) return null;
  const { state, lastEvent, lastChunk, ...end } = row;
  return { lastEvent, lastChunk, over: state === 'ended', deleted: false, end: { id, ...end, deleted: false } };
}

/** The last message of a stream whose plan or attempt is gone. */
export const gonePlan = (id: string): PlanStreamEnd => ({ id, state: null, deleted: true });
export const goneAttempt = (id: string): AttemptStreamEnd => ({
  ...{ id, outcome: null as Outcome | null, code: null, message: null },
  deleted: true,
});
