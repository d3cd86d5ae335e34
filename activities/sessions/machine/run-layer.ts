import { setTimeout as delay } from 'node:timers/promises';
import type { SessionRow } from '../../../control/database.ts';
import {
  closeRun,
  knownRun,
  noteRunStarted,
  openRun,
  type RunRow,
  shipBatch,
} from '../../../control/runs/follow-run.ts';
import type { ImageKeys } from '../../../control/sessions/images/image-keys.ts';
import { runOutcome } from '../../../control/sessions/run-outcome.ts';
import { loadSession, noteProgress, noteWarnings } from '../../../control/sessions/session-progress.ts';
import { ERRORS, isMusterError, musterError } from '../../../domain/errors.ts';
import type { RunCursor, RunSpec } from '../../../domain/runs/runner.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import { missingRequirements } from '../../../domain/sessions/missing-requirements.ts';
import type { LayerOutcome } from '../../../domain/sessions/outcome.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import type { RunLayer } from '../contract.ts';
import type { MissingRequirements, Runner, TenantVault, Workspaces } from '../ports.ts';
import { keepIdentity, refreshIdentity } from './host-identity.ts';
import { type LayerDependencies, layerCommand, namedLayer, placeIn, playbookOf } from './layer-command.ts';
import { tenantLogin } from './tenant-login.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface RunDependencies extends LayerDependencies {
  runner: Runner;
  requirements: MissingRequirements;
  workspaces: Workspaces;
  imageKeys: Pick<ImageKeys, 'read'>;
  /** Where tenants keep their secrets; unset: nowhere. */
  tenantVault?: TenantVault | undefined;
  /** Id of this machine's data directory. */
  hostId: string;
  /** Program in place of `ansible-playbook`, and the folder of the built-in debugging playbooks. */
  playbookCommand: string;
  debugPlaybooks: string;
  /** PATH, HOME and the like for playbooks. */
  baseEnvironment: Record<string, string>;
  logMaxBytes: number;
  /** Pauses between tries to start a run, in ms; a default of 16 s in all. */
  startPauses?: number[];
}

/** Pauses between tries to start a run, in ms; when the last one has failed too, it is not chance. */
const START_PAUSES = [250, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * One attempt of one layer: starts its run unless it was started before, then follows it to its end. Any number of
 * workers may take it up one after the other; the playbook runs once, and what it writes is stored once.
 */
export async function runLayer(deps: RunDependencies, input: RunLayer, signal: AbortSignal): Promise<LayerOutcome> {
  const { db, runner } = deps;
  const { sessionId, layer, attempt } = input;
  const session = await loadSession(db, sessionId);
  const runId = runIdOf(sessionId, attempt, layer);
  const playbook = playbookOf(session, layer);

  let run = await knownRun(db, runId);
  // A run that was started and whose claim is gone lost its disk: it must not start a second time.
  if (run === null || (run.state === 'created' && !(await runner.isStarted(runId)))) {
    const spec = await makeSpec(deps, session, input, runId, signal);
    run = await openRun(db, { id: runId, sessionId, streamId: sessionId, layer, attempt, host: deps.hostId });
    await startRun(deps, run, spec, signal);
  }
  if (run.state === 'created' || run.state === 'started') await followRun(deps, session, run, signal);
  return { index: layer, playbook, place: placeIn(session, layer), ...(await runOutcome(db, runId)) };
}

/** Starts the run, several times if need be; gives up for good, so that it cannot start later by itself. */
async function startRun(deps: RunDependencies, run: RunRow, spec: RunSpec, signal: AbortSignal): Promise<void> {
  const { db, runner, startPauses = START_PAUSES } = deps;
  const sessionId = run.streamId;
  const note = (message: string, reason: string | null) =>
    noteProgress(db, sessionId, { phase: 'layer', layer: run.layer, attempt: run.attempt, message, reason });
  for (const pause of [...startPauses, null]) {
    try {
      return await runner.start(spec, signal, (held, limit) =>
        note(`waiting for one of ${limit} local runs, ${held} busy (MUSTER_LOCAL_RUNS)`, null),
      );
    } catch (error) {
      if (!isMusterError(error) || error.code !== 'run_not_started') throw error;
      if (pause === null) {
        await runner.end(run.id);
        await closeRun(db, run, { exit: null, results: null, warnings: [] });
        throw error;
      }
      await note(`starting ${layerNumber(run.layer)} failed, trying again: ${error.detail}`, error.code);
      await delay(pause, undefined, { signal });
    }
  }
}

async function followRun(deps: RunDependencies, session: SessionRow, run: RunRow, signal: AbortSignal): Promise<void> {
  const { db, runner } = deps;
  const { id: runId, layer, attempt } = run;
  if (!(await runner.isStarted(runId))) {
    const warnings = [`${layerNumber(layer)}: the files of its run are gone`, ...(await endLost(runner, run))];
    return closeRun(db, run, { exit: null, results: null, warnings });
  }
  await noteRunStarted(db, runId);
  await noteProgress(db, session.id, {
    phase: 'layer',
    layer,
    attempt,
    message: `running ${namedLayer(session, layer)}`,
  });
  let cursor: RunCursor = run.cursor;
  const stopKeeping = keepIdentity(deps, session.id, (warning) => noteWarnings(db, session.id, [warning]));
  try {
    const end = await runner.watch(
      runId,
      cursor,
      async (batch) => {
        await shipBatch(db, run, cursor, batch);
        cursor = batch.cursor;
      },
      signal,
    );
    const warnings = end.exit === null ? await endLost(runner, run) : [];
    await closeRun(db, run, { ...end, warnings: [...end.warnings, ...warnings] });
  } catch (error) {
    // Nobody takes this run up again, so it must not go on.
    if (isMusterError(error) && !ERRORS[error.code].retryable) await runner.end(runId);
    throw error;
  } finally {
    await stopKeeping();
  }
}

/**
 * Ends what a lost run has left working, before others may have its hosts: its launcher is gone, the playbook need not be. Answers
 * warnings: what belongs to another user cannot be ended by us, now or later. What the machine refuses for the moment is thrown.
 */
async function endLost(runner: Runner, { id, layer }: RunRow): Promise<string[]> {
  try {
    await runner.end(id);
    if (!(await runner.mayHaveLeft(id))) return [];
    return [
      `${layerNumber(layer)}: the launcher of its run was killed, and with it what watches over its processes: one that has shed the environment of the run (MUSTER_RUN_ID) may still be at work on this machine`,
    ];
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error) throw error;
    return [
      `${layerNumber(layer)}: not all of its run could be ended: ${error instanceof Error ? error.message : error}`,
    ];
  }
}

async function makeSpec(
  deps: RunDependencies,
  session: SessionRow,
  input: RunLayer,
  runId: string,
  signal: AbortSignal,
): Promise<RunSpec> {
  const { workspaces, site } = deps;
  const { sessionId, layer } = input;
  const { snapshot, target } = session;
  const paths = workspaces.paths(sessionId);
  const playbook = playbookOf(session, layer);
  const debug = snapshot.debug_playbook !== null;
  const layerDir = debug ? deps.debugPlaybooks : workspaces.layerDir(sessionId, layer);
  const file = await workspaces.inside(layerDir, playbook);
  if (file === null) {
    throw musterError('playbook_missing', `${layerNumber(layer)}: there is no playbook ${playbook} in its repository`);
  }
  // What keeps a certificate from being renewed is told while the run goes on; hosts may know the key itself.
  await refreshIdentity(deps, sessionId).catch((error: unknown) => {
    if (!isMusterError(error) || error.code !== 'trust_unavailable') throw error;
  });
  const { words, limitFile, extraVars, environment } = await layerCommand(deps, session, input, {
    base: deps.baseEnvironment,
    limit: paths.limit,
    extraVars: paths.extraVars,
    araCredentials: deps.ara?.credentialsFile,
    paths: {
      workspace: paths.dir,
      ansibleConfig: paths.ansibleConfig,
      inventory: paths.hosts,
      roles: `${layerDir}/roles`,
      sshKey: paths.sshKey,
      plainKey: paths.plainKey,
      controlPath: paths.controlPath,
      vaultPassword: await placeVaultPassword(deps, sessionId),
    },
  });
  await checkRequirements(deps, session, input, environment, signal);
  if (limitFile !== null) await workspaces.writePrivate(paths.limit, limitFile);
  for (const [path, text] of Object.entries(extraVars)) await workspaces.writePrivate(path, text);
  const sources = await Promise.all(
    [...new Set(snapshot.layers.flatMap(({ source }) => (source === null ? [] : [source])))].map(site.source),
  );
  const tenant = await tenantLogin(deps.tenantVault, snapshot);
  await noteWarnings(deps.db, sessionId, tenant.warnings);
  return {
    runId,
    argv: [deps.playbookCommand, file, ...words],
    cwd: layerDir,
    env: environment,
    secretEnv: tenant.environment,
    masks: [
      ...(tenant.token === '' ? [] : [tenant.token]),
      ...(await site.masks(sources.filter((source) => source !== null))),
      ...(target.definition === 'image' ? await imageMasks(deps, sessionId) : []),
    ],
    logMaxBytes: deps.logMaxBytes,
  };
}

/** Throws `collection_missing` before anything runs when a layer from here on asks for what is not installed. */
async function checkRequirements(
  { requirements, workspaces }: RunDependencies,
  { id, snapshot }: SessionRow,
  { layer, attempt }: RunLayer,
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const isFirst = layer === snapshot.layers[0]?.index;
  // An attempt later the repository is the same, but somebody may have installed or removed something.
  if (snapshot.debug_playbook !== null || (!isFirst && attempt === 1)) return;
  const layers = snapshot.layers
    .filter(({ index }) => index >= layer)
    .map(({ index, playbook }) => ({ index, dir: workspaces.layerDir(id, index), playbook }));
  const missing = await requirements.find(layers, environment, signal);
  if (missing.length > 0) throw musterError('collection_missing', missingRequirements(missing));
}

/** What of the session's key for images must never show. */
async function imageMasks({ imageKeys }: Pick<RunDependencies, 'imageKeys'>, sessionId: string): Promise<string[]> {
  const key = await imageKeys.read(sessionId);
  return key === null ? [] : [key.privateKey.trim()];
}
