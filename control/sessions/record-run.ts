/** What a run of a layer reached, on the components. */

import type { CheckCounts } from '../../domain/components/drift-schema.ts';
import { recordsDrift, recordsState } from '../../domain/sessions/ansible-arguments.ts';
import { isCheck } from '../../domain/sessions/check-mode.ts';
import { runIdOf } from '../../domain/sessions/run-id.ts';
import { countChecked } from '../../store/components/drift.ts';
import type { Db } from '../../store/connection/database.ts';
import { recordDrift } from '../components/record-drift.ts';
import { recordLayer } from '../components/record-layer.ts';
import { loadSession } from './session-progress.ts';

/**
 * Records the stored results of a run on its components, once however often it is called. Answers what the session has seen until now if
 * it is a check, else null.
 */
export async function recordRun(
  db: Db,
  { sessionId, layer, attempt }: { sessionId: string; layer: number; attempt: number },
  now: Date,
): Promise<CheckCounts | null> {
  const session = await loadSession(db, sessionId);
  const { target, ansible_passthrough: passthrough, snapshot } = session;
  const found = snapshot.layers.find((candidate) => candidate.index === layer);
  const check = isCheck(session);
  const run = { target, passthrough, debugPlaybook: snapshot.debug_playbook, check };
  if (found?.commit != null) {
    const record = {
      runId: runIdOf(sessionId, attempt, layer),
      streamId: sessionId,
      layer,
      attempt,
      sessionName: session.name,
      cloneUrl: found.url,
      playbook: found.playbook,
      commit: found.commit,
    };
    if (recordsState(run)) await recordLayer(db, record, now);
    else if (check && recordsDrift(run)) {
      await recordDrift(
        db,
        {
          ...record,
          sessionId,
          configuration: session.configuration_name,
          allLayers: session.configuration_limit === '' ? snapshot.layers : null,
        },
        now,
      );
    }
  }
  return check ? countChecked(db, sessionId) : null;
}
