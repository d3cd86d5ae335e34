/** The session's activities as Temporal calls them: dependencies closed over, failures in the catalogue's words. */

import type { Client } from '@temporalio/client';
import { type AdmitDependencies, admitSession } from '../../control/sessions/admit-session.ts';
import { checkRunMayEnd, checkWorkspaceMayGo } from '../../control/sessions/cluster/check-order.ts';
import { endSession } from '../../control/sessions/end-session.ts';
import { recordRun } from '../../control/sessions/record-run.ts';
import { noteProgress } from '../../control/sessions/session-progress.ts';
import { takeSessionLeases } from '../../control/sessions/take-session-leases.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';
import {
  EndRunSchema,
  HoldingSchema,
  RunLayerSchema,
  RunRefSchema,
  SessionEndingSchema,
  SessionRefSchema,
} from '../../domain/sessions/activity-schema.ts';
import { isCheck } from '../../domain/sessions/check-mode.ts';
import { runnerOf } from '../../domain/sessions/cluster/cluster-wait.ts';
import { layerNumber } from '../../domain/sessions/layer-name.ts';
import { runIdOf } from '../../domain/sessions/run-id.ts';
import { type InputSchemas, parseInputs } from '../parse-inputs.ts';
import type { HostActivities, SessionRecords, WorkspaceActivities } from './contract.ts';
import { type CloneDependencies, cloneLayers } from './machine/clone-layers.ts';
import { playbooksOf } from './machine/layer-command.ts';
import { type RunDependencies, runLayer } from './machine/run-layer.ts';
import { type InventoryDependencies, writeInventory } from './machine/write-inventory.ts';
import { onSession, reportFailure, type SessionWork } from './report-failure.ts';

export type SessionActivityDependencies = AdmitDependencies &
  CloneDependencies &
  InventoryDependencies &
  RunDependencies & { client: Client };

const RECORD_INPUTS: InputSchemas<SessionRecords> = {
  admitSession: SessionRefSchema,
  takeLeases: SessionRefSchema,
  recordLayer: RunRefSchema,
  recordHold: HoldingSchema,
  recordEnd: SessionEndingSchema,
};

const HOST_INPUTS: InputSchemas<WorkspaceActivities & HostActivities> = {
  cloneLayers: SessionRefSchema,
  writeInventory: SessionRefSchema,
  runLayer: RunLayerSchema,
  endRun: EndRunSchema,
  removeWorkspace: SessionRefSchema,
};

/** Short database writes, run beside the workflow. */
export function createSessionRecords(deps: AdmitDependencies): SessionRecords {
  const { db } = deps;
  return parseInputs(RECORD_INPUTS, {
    admitSession: async ({ sessionId }) => {
      const answer = await admitSession(deps, sessionId);
      if (answer.state !== 'admitted') return answer;
      const { session, options } = answer;
      return {
        state: 'admitted',
        plan: {
          layers: session.snapshot.layers.map(({ index }) => index),
          playbooks: playbooksOf(session),
          debug: session.snapshot.debug_playbook !== null,
          debugOnFailure: session.debug_on_failure,
          debugWaitSeconds: options.debug_wait_time,
          timeoutSeconds: options.session_timeout,
          check: isCheck(session),
          runner: runnerOf(session, deps.defaultRunner),
          ...(session.target.definition === 'image' ? { images: true } : {}),
        },
      };
    },
    takeLeases: ({ sessionId }) =>
      reportFailure(deps, sessionId, { phase: 'lease', what: 'taking components' }, () =>
        takeSessionLeases(deps, sessionId),
      ),
    recordLayer: (run) => {
      const { sessionId, layer, attempt } = run;
      const step: SessionWork = { phase: 'layer', layer, attempt, what: `recording ${layerNumber(layer)}` };
      return reportFailure(deps, sessionId, step, () => recordRun(db, run, deps.clock()));
    },
    recordHold: ({ sessionId, layer, message }) => noteProgress(deps, sessionId, { step: 'hold', layer, message }),
    recordEnd: ({ sessionId, ...end }) => endSession(deps, sessionId, end),
  });
}

/** Work on a disk of this machine. */
export function createHostActivities(deps: SessionActivityDependencies): WorkspaceActivities & HostActivities {
  return parseInputs(HOST_INPUTS, {
    cloneLayers: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'clone', what: 'clone' }, async (session, signal) => {
        await cloneLayers(deps, session, signal);
        return { hostQueue: hostQueueOf(deps.hostId), folder: deps.workspaces.paths(sessionId).dir };
      }),
    writeInventory: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'inventory', what: 'inventory' }, (session, signal) =>
        writeInventory(deps, session, signal),
      ),
    runLayer: (input) => {
      const { sessionId, layer, attempt } = input;
      const step: SessionWork = { phase: 'layer', layer, attempt, what: `starting or following ${layerNumber(layer)}` };
      return onSession(deps, sessionId, step, (session, signal) => runLayer(deps, session, input, signal));
    },
    endRun: ({ sessionId, layer, attempt, timeoutSeconds }) =>
      onSession(
        deps,
        sessionId,
        { phase: 'layer', layer, attempt, what: `ending ${layerNumber(layer)}` },
        async (session) => {
          await checkRunMayEnd(deps, session, timeoutSeconds);
          await deps.runner.end(runIdOf(sessionId, attempt, layer));
        },
      ),
    removeWorkspace: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'teardown', what: 'removing the workspace' }, async (session) => {
        await checkWorkspaceMayGo(deps, session);
        await deps.workspaces.remove(sessionId);
      }),
  });
}
