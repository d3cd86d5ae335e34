import { issueJobToken } from '../../../control/sessions/cluster/session-of-job-token.ts';
import { loadSession, noteProgress, noteWarnings } from '../../../control/sessions/session-progress.ts';
import { ageSeconds } from '../../../domain/age.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import {
  effectiveLimit,
  limitOfRun,
  recordsState,
  selectArguments,
} from '../../../domain/sessions/ansible-arguments.ts';
import { limitNeedsFile } from '../../../domain/sessions/ansible-limit.ts';
import { isCheck } from '../../../domain/sessions/check-mode.ts';
import type { JobSpec, JobTrouble } from '../../../domain/sessions/cluster/cluster-job.ts';
import { checkExecTexts } from '../../../domain/sessions/cluster/exec-texts.ts';
import { COMPATIBLE_EXTRA_VARS, EXTRA_VARS_KEY, POD_PATHS } from '../../../domain/sessions/cluster/pod-paths.ts';
import { checkSecretSize } from '../../../domain/sessions/cluster/secret-size.ts';
import { layersArgument } from '../../../domain/sessions/layers-argument.ts';
import { joinShellWords } from '../../../domain/sessions/shell-words.ts';
import type { SessionJobRow } from '../../../store/sessions/session-jobs.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { jobSecret, type SecretDependencies } from './job-secret.ts';
import { preparedJob } from './prepared-job.ts';
import { type RoomDependencies, startInRoom } from './start-in-room.ts';

export interface StartDependencies extends SecretDependencies, RoomDependencies {
  readOptions(): Promise<Options>;
}

/** Kubernetes ends a Job so long after `session_timeout`, should nobody else have, seconds. */
const DEADLINE_MARGIN = 300;

/**
 * Makes the session's Job with its Secret and lets it run; one that runs, or has run, is left alone. Answers what it still waits for when that
 * took long, to be asked again, else null.
 */
export async function startJob(
  deps: StartDependencies,
  sessionId: string,
  signal: AbortSignal,
  againMs?: number,
): Promise<JobTrouble | null> {
  const { db, cluster } = deps;
  const [session, job] = await Promise.all([loadSession(db, sessionId), preparedJob(db, sessionId)]);
  if (job.ended_at !== null) return null;
  const seen = await cluster.view(job.name);
  // What somebody else has made under its name is told of when the Job is made.
  const isThere = seen.phase !== 'gone' && seen.phase !== 'suspended';
  if (isThere && seen.sessionId === sessionId) return null;
  // What one waits for that has waited before stays said.
  if (job.waiting_since === null) await noteProgress(deps, sessionId, { step: 'start_job' });
  const { values, warnings } = await jobSecret(deps, session, await issueJobToken(db, sessionId, deps.clock()));
  await noteWarnings(deps, sessionId, warnings);
  // The engine may have given this try up, and ended the Job, while its secrets were asked for: one that runs by itself must not begin then.
  if ((await preparedJob(db, sessionId)).ended_at !== null) return null;
  return await startInRoom(deps, job, specOf(deps, session, job, await deps.readOptions(), values), signal, againMs);
}

function specOf(
  { tenantVault }: StartDependencies,
  session: SessionRow,
  job: SessionJobRow,
  options: Options,
  secret: Record<string, string>,
): JobSpec {
  const { target, snapshot, ansible_passthrough: passthrough } = session;
  const limit = limitOfRun(session);
  // Our own image takes a layer with its words as an order, and a long limit by this file.
  const byFile = job.profile === 'restricted' && limitNeedsFile(effectiveLimit({ limit, target }));
  const check = isCheck(session);
  const restricted = job.profile === 'restricted';
  const { words, extraVars } = selectArguments({
    verbosity: session.ansible_verbosity,
    limit,
    limitFile: byFile ? POD_PATHS.limit : undefined,
    // A runner image that is not ours has them from its Secret.
    extraVars: restricted ? POD_PATHS.extraVars : `${COMPATIBLE_EXTRA_VARS}/`,
    passthrough,
    target,
    check,
  });
  const files = restricted ? [] : Object.values(extraVars);
  const withFiles = { ...secret, ...Object.fromEntries(files.map((text, n) => [`${EXTRA_VARS_KEY}${n}`, text])) };
  const spec: JobSpec = {
    name: job.name,
    sessionId: session.id,
    sessionName: session.name,
    configurationName: session.configuration_name,
    profile: job.profile,
    image: target.definition === 'image',
    // Our own image takes them as they are, with each order.
    ansibleArgs: restricted ? words.join(' ') : joinShellWords(words),
    inventoryType: target.definition,
    stateRecordingDisabled: !recordsState({ target, passthrough, debugPlaybook: snapshot.debug_playbook, check }),
    configurationLimit: session.configuration_limit,
    debugWaitSeconds: session.debug_on_failure ? options.debug_wait_time : 0,
    layersArgument: layersArgument(snapshot, job.profile),
    ttlSeconds: ageSeconds(options.session_ttl),
    deadlineSeconds: options.session_timeout > 0 ? options.session_timeout + DEADLINE_MARGIN : null,
    logLevel: options.logging_level,
    vaultAddress: tenantVault?.address ?? '',
    extraVarsFiles: files.length,
    secret: withFiles,
  };
  checkExecTexts(spec);
  checkSecretSize(withFiles);
  return spec;
}
