import { setTimeout as delay } from 'node:timers/promises';
import { openRun } from '../../../control/runs/open-run.ts';
import { closeLeftRuns } from '../../../control/sessions/cluster/record-job.ts';
import { recordRun } from '../../../control/sessions/record-run.ts';
import { runOutcome } from '../../../control/sessions/run-outcome.ts';
import { loadSession, noteProgress } from '../../../control/sessions/session-progress.ts';
import { CLUSTER_HOST } from '../../../domain/engine/task-queues.ts';
import { isErrorCode, musterError } from '../../../domain/errors.ts';
import type { ClusterJobs } from '../../../domain/sessions/cluster/cluster-job.ts';
import { POD_PATHS, podLayerDir } from '../../../domain/sessions/cluster/pod-paths.ts';
import { secretChange, secretNumber } from '../../../domain/sessions/cluster/secret-change.ts';
import type { RunOrder } from '../../../domain/sessions/job-schema.ts';
import type { LayerOutcome } from '../../../domain/sessions/outcome.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findRun, type RunRow } from '../../../store/runs/runs.ts';
import { findOrder, giveOrder } from '../../../store/sessions/job-orders.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { finalFailure } from '../../final-failure.ts';
import type { RunLayer } from '../contract.ts';
import { type LayerDependencies, layerCommand, namedLayer, placeIn, playbookOf } from '../machine/layer-command.ts';
import { jobIdentity, type SecretDependencies, trimmed } from './job-secret.ts';
import { preparedJob } from './prepared-job.ts';

export interface OrderDependencies extends LayerDependencies, Pick<SecretDependencies, 'trust' | 'publicKeyOf'> {
  clock(): Date;
  cluster: Pick<ClusterJobs, 'updateSecret'>;
  logMaxBytes: number;
}

/** Between two looks at what the pod has handed in, ms: at first often, since each is part of what a session takes; less so later. */
const lookAgainAfter = (began: number) => Math.min(1_000, 100 + (performance.now() - began) / 50);
/** Between two looks at a pod that runs all layers by itself, ms. */
const LOOK_MS = 1_000;
/** Between two looks at whether the Job of an open run has ended, ms. */
const JOB_LOOK_MS = 5_000;
/** Exit status of a playbook that was ended by TERM. */
const TERMINATED = 143;
/** Exit statuses from here on are of a process that was killed: 128 and the number of the signal. */
const KILLED_FROM = 129;
/** How long the end of the Job is waited for after that, ms: longer than it takes until the record says that the cluster is away. */
const JOB_END_MS = 120_000;

/**
 * One attempt of one layer as an order to the session's pod: given once, then followed until its end is stored. What the pod does
 * survives whoever follows. A run that ended with its Job fails with the Job's reason.
 */
export async function orderLayer(
  deps: OrderDependencies,
  session: SessionRow,
  input: RunLayer,
  signal: AbortSignal,
): Promise<LayerOutcome> {
  const { db } = deps;
  const { sessionId, layer, attempt } = input;
  const runId = runIdOf(sessionId, attempt, layer);
  const playbook = playbookOf(session, layer);
  let run = await findRun(db, runId);
  if (run === null) {
    await untilReady(db, sessionId, signal);
    run = await openRun(
      db,
      { id: runId, sessionId, streamId: sessionId, layer, attempt, host: CLUSTER_HOST },
      deps.clock(),
    );
  }
  const current = (await findOrder(db, sessionId))?.order;
  // Of a run that is over somebody may have gone on to the next: an order for it would take the place of that one's.
  if (isOpen(run) && (current?.action !== 'run' || current.run.id !== runId)) {
    const given = await giveOrder(db, sessionId, { action: 'run', run: await runOrder(deps, session, input, runId) });
    const name = namedLayer(session, layer);
    if (given) await noteProgress(deps, sessionId, { step: 'layer', layer, attempt, name });
  }
  const state = await untilEnded(deps, sessionId, runId, signal);
  const outcome = await runOutcome(db, runId);
  // Ended by the pod itself, most likely because somebody ends the pod: then that is the reason.
  const wasTold = outcome.exitCode === TERMINATED;
  if (wasTold) await untilJobEnds(db, sessionId, signal);
  const refusal = await refusalOf(db, sessionId, state === 'lost' || wasTold);
  if (refusal !== null) {
    // Whoever hears of a failure alone records nothing: hosts of a layer that has filled its disk, or lost its pod, reached what they reached.
    await recordRun(db, input, deps.clock());
    throw refusal;
  }
  return { index: layer, playbook, place: placeIn(session, layer), ...outcome };
}

/** Waits until the container that takes orders is there. */
async function untilReady(db: Db, sessionId: string, signal: AbortSignal): Promise<void> {
  for (const began = performance.now(); ; ) {
    const job = await preparedJob(db, sessionId);
    if (job.ended_at !== null) throw endedWith(job.end_code, job.end_message);
    if (job.steps.ansible !== undefined) return;
    await delay(lookAgainAfter(began), undefined, { signal });
  }
}

function isOpen({ state }: RunRow): boolean {
  return state !== 'ended' && state !== 'lost';
}

async function untilEnded(
  { db, clock }: Pick<OrderDependencies, 'db' | 'clock'>,
  sessionId: string,
  runId: string,
  signal: AbortSignal,
): Promise<'ended' | 'lost'> {
  let nextJobLook = 0;
  for (const began = performance.now(); ; ) {
    const run = await findRun(db, runId);
    if (run === null) throw musterError('run_lost', 'the record of its run is gone');
    if (run.state === 'ended' || run.state === 'lost') return run.state;
    if (performance.now() >= nextJobLook) {
      nextJobLook = performance.now() + JOB_LOOK_MS;
      // Whoever stored the Job's end did not see a run that was opened meanwhile.
      if ((await preparedJob(db, sessionId)).ended_at !== null) {
        await closeLeftRuns(db, sessionId, clock());
        continue;
      }
    }
    await delay(lookAgainAfter(began), undefined, { signal });
  }
}

/** Waits for a moment until the end of the Job is stored; the time does not pass while nobody sees the cluster. */
async function untilJobEnds(db: Db, sessionId: string, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  for (let latest = began + JOB_END_MS; performance.now() < latest; ) {
    if ((await preparedJob(db, sessionId)).ended_at !== null) return;
    const { reason } = await loadSession(db, sessionId);
    if (reason === 'cluster_unavailable') latest = performance.now() + JOB_END_MS;
    await delay(lookAgainAfter(began), undefined, { signal });
  }
}

/**
 * Waits for the end of the playbooks of a pod that runs them by itself; their exit code. Where something else has ended them, or kept them from
 * being run, the end of the Job is the reason.
 */
export async function awaitPlaybooks(db: Db, sessionId: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    const { exit_codes: codes, ended_at: endedAt } = await preparedJob(db, sessionId);
    const code = codes?.ansible ?? null;
    if (endedAt !== null || code === 0) break;
    if (code !== null) {
      const isOwn = code < KILLED_FROM && (codes?.inventory ?? 0) === 0;
      if (!isOwn) await untilJobEnds(db, sessionId, signal);
      break;
    }
    await delay(LOOK_MS, undefined, { signal });
  }
  const {
    exit_codes: codes,
    ended_at: endedAt,
    end_code: reason,
    end_message: message,
  } = await preparedJob(db, sessionId);
  const code = codes?.ansible ?? null;
  const isOtherEnd = endedAt !== null && reason !== null && reason !== 'layer_failed';
  if (code === null || (code !== 0 && isOtherEnd)) throw endedWith(reason, message);
  return code;
}

/** What the pod said of a run that it could not begin, or go on with, or the end of the Job that took the run along; null: nothing. */
async function refusalOf(db: Db, sessionId: string, lost: boolean): Promise<Error | null> {
  const job = await preparedJob(db, sessionId);
  const { ansible } = job.steps;
  if (ansible?.state === 'failed' && isErrorCode(ansible.code))
    return finalFailure(ansible.code, ansible.message ?? '');
  return lost && job.ended_at !== null ? endedWith(job.end_code, job.end_message) : null;
}

function endedWith(code: string | null, message: string | null): Error {
  return finalFailure(isErrorCode(code) ? code : 'runner_failed', message ?? 'its Job ended');
}

/** The run as the pod executes it; all paths are the pod's. */
async function runOrder(
  deps: OrderDependencies,
  session: SessionRow,
  input: RunLayer,
  runId: string,
): Promise<RunOrder> {
  const { layer, attempt } = input;
  const debug = session.snapshot.debug_playbook !== null;
  const cwd = debug ? POD_PATHS.debugPlaybooks : podLayerDir(layer);
  const vaultPassword = await deps.site.vaultPassword();
  const { words, limitFile, extraVars, environment } = await layerCommand(deps, session, input, {
    base: {},
    limit: POD_PATHS.limit,
    extraVars: POD_PATHS.extraVars,
    araCredentials: deps.ara?.credentialsFile === undefined ? undefined : POD_PATHS.araCredentials,
    paths: {
      workspace: POD_PATHS.work,
      ansibleConfig: POD_PATHS.ansibleConfig,
      inventory: POD_PATHS.hosts,
      roles: `${cwd}/roles`,
      sshKey: POD_PATHS.sshKey,
      plainKey: POD_PATHS.plainKey,
      controlPath: POD_PATHS.controlPath,
      vaultPassword: vaultPassword === null ? null : POD_PATHS.vaultPassword,
    },
  });
  const number = await refreshSecret(deps, input, vaultPassword);
  return {
    id: runId,
    layer,
    attempt,
    playbook: playbookOf(session, layer),
    debug,
    arguments: words,
    limit_file: limitFile,
    ...(Object.keys(extraVars).length > 0 ? { files: extraVars } : {}),
    cwd,
    log_max: deps.logMaxBytes,
    environment,
    ...(number === 0 ? {} : { certificate_until: number }),
  };
}

/**
 * Puts the certificate and the password of vaults of now into the Secret of the Job: nobody may have done so since it was made. Answers
 * the number that the Secret has then; 0 when the pod has to take what it has. A retry in place is for what was set right meanwhile,
 * so without the cluster it fails where there is a password.
 */
async function refreshSecret(
  deps: OrderDependencies,
  { sessionId, attempt }: RunLayer,
  vaultPassword: string | null,
): Promise<number> {
  const identity = await certified(deps);
  const values = { ...identity, ...(vaultPassword === null ? {} : { vault_password: vaultPassword }) };
  const secrets = trimmed([vaultPassword, identity.private]);
  try {
    const { name } = await preparedJob(deps.db, sessionId);
    const has = await deps.cluster.updateSecret(name, (now) => secretChange(now, values, secrets));
    return has === null ? 0 : secretNumber(has);
  } catch (error) {
    if (attempt > 1 && vaultPassword !== null) throw error;
    return 0;
  }
}

/** Key and certificate of now; nothing where there is no certificate that ends, since hosts may know the key itself. */
async function certified(deps: OrderDependencies): Promise<Record<string, string>> {
  try {
    const { values, until } = await jobIdentity(deps);
    return until === null ? {} : values;
  } catch {
    // Whoever follows the Job tells what keeps a certificate from being renewed.
    return {};
  }
}
