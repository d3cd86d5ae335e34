/** Work on Jobs of a cluster, for workers that reach one. */

import { type CleanJobsDependencies, cleanJobs } from '../../../control/sessions/cluster/clean-jobs.ts';
import { finishJob } from '../../../control/sessions/cluster/record-job.ts';
import { CLUSTER_HOST } from '../../../domain/engine/task-queues.ts';
import { FinishJobSchema, RunLayerSchema, SessionRefSchema } from '../../../domain/sessions/activity-schema.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import { noteHostBack } from '../../../store/sessions/progress.ts';
import { stillWaiting } from '../../final-failure.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../../parse-inputs.ts';
import type { CleaningActivities, ClusterActivities } from '../contract.ts';
import { onSession, onStep, type SessionWork } from '../report-failure.ts';
import { awaitPlaybooks, type OrderDependencies, orderLayer } from './order-layer.ts';
import { type PrepareDependencies, prepareJob } from './prepare-job.ts';
import { type StartDependencies, startJob } from './start-job.ts';
import { endJob, FOLLOWING, type WatchDependencies, watchJob } from './watch-job.ts';

export type ClusterActivityDependencies = PrepareDependencies &
  StartDependencies &
  OrderDependencies &
  WatchDependencies &
  CleanJobsDependencies & { log: { info(fields: object, message: string): void } };

const INPUTS: InputSchemas<ClusterActivities & CleaningActivities> = {
  prepareJob: SessionRefSchema,
  startJob: SessionRefSchema,
  watchJob: SessionRefSchema,
  runLayer: RunLayerSchema,
  awaitPlaybooks: SessionRefSchema,
  finishJob: FinishJobSchema,
  endJob: SessionRefSchema,
  cleanHost: null,
};

export function createClusterActivities(deps: ClusterActivityDependencies): ClusterActivities & CleaningActivities {
  return parseInputs(INPUTS, {
    prepareJob: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'inventory', what: 'preparing the Job' }, (session, signal) =>
        prepareJob(deps, session, signal),
      ),
    startJob: async ({ sessionId }) => {
      const step: SessionWork = { phase: 'clone', what: 'starting the Job' };
      const trouble = await onStep(deps, sessionId, step, (signal) => startJob(deps, sessionId, signal));
      // Nothing has failed.
      if (trouble !== null) throw stillWaiting(trouble.code, trouble.message);
    },
    watchJob: ({ sessionId }) =>
      onStep(deps, sessionId, { phase: 'layer', what: FOLLOWING }, (signal) => watchJob(deps, sessionId, signal)),
    runLayer: (input) => {
      const { sessionId, layer, attempt } = input;
      const step: SessionWork = { phase: 'layer', layer, attempt, what: `following ${layerNumber(layer)}` };
      return onSession(deps, sessionId, step, (session, signal) => orderLayer(deps, session, input, signal));
    },
    awaitPlaybooks: ({ sessionId }) =>
      onStep(deps, sessionId, { phase: 'layer', what: 'following the playbooks' }, (signal) =>
        awaitPlaybooks(deps.db, sessionId, signal),
      ),
    finishJob: ({ sessionId, exitCode }) => finishJob(deps.db, sessionId, exitCode),
    endJob: ({ sessionId }) =>
      onStep(deps, sessionId, { phase: 'teardown', what: 'ending the Job' }, (signal) =>
        endJob(deps, sessionId, signal),
      ),
    cleanHost: () =>
      withHeartbeat(async () => {
        await noteHostBack(deps.db, CLUSTER_HOST);
        const report = await cleanJobs(deps);
        if (report.ended.length + report.problems.length > 0) deps.log.info({ ...report }, 'clean-up of the cluster');
      }),
  });
}
