import type { SessionProgress } from '../../domain/sessions/detail-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SessionStreamState } from '../../store/sessions/session-reads.ts';
import { withSlotWaits } from './slot-waits.ts';
import type { SummaryReader } from './summary-reader.ts';

/** What the session does now and what its hosts answered so far. A read costs what is new since the last one. */
export async function readProgress(
  deps: { db: Db; summaries: SummaryReader; clock(): Date },
  stored: SessionStreamState,
): Promise<SessionProgress> {
  const [state = stored] = await withSlotWaits(deps.db, [stored], deps.clock());
  const summary = await deps.summaries.read(state.id);
  const runs = state.phase === 'layer';
  const end = state.completionTime ?? deps.clock();
  return {
    name: state.name,
    id: state.id,
    status: state.status,
    succeeded: state.succeeded,
    phase: state.phase,
    message: state.message,
    reason: state.reason,
    layer: state.layer,
    layers_total: state.layers,
    attempt: state.attempt,
    play: runs ? summary.play : null,
    task: runs ? summary.task : null,
    hosts: {
      seen: summary.hosts.size,
      done: summary.finished || !runs ? summary.hosts.size : summary.answered.size,
      failed: summary.failed.size,
    },
    counts: { ...summary.counts },
    elapsed: Math.max(0, (end.getTime() - state.startTime.getTime()) / 1000),
    seq: summary.seq,
  };
}
