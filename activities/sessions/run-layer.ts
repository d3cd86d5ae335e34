import type { Database, Kysely, SessionRow } from '../../control/database.ts';
import { failedHostsOf } from '../../control/runs/failed-hosts.ts';
import { closeRun, noteRunStarted, openRun, runOutcome, shipBatch } from '../../control/runs/follow-run.ts';
import { loadSession, noteProgress } from '../../control/sessions/session-progress.ts';
import { musterError } from '../../domain/errors.ts';
import { runIdOf } from '../../domain/runs/run-id.ts';
import type { RunCursor, RunSpec } from '../../domain/runs/runner.ts';
import { recordsState, selectArguments } from '../../domain/sessions/ansible-arguments.ts';
import { limitFileText, limitNeedsFile } from '../../domain/sessions/ansible-limit.ts';
import type { LayerOutcome } from '../../domain/sessions/outcome.ts';
import { runEnvironment } from '../../domain/sessions/run-environment.ts';
import type { RunLayer } from './contract.ts';
import type { Runner, SiteValues, Workspaces } from './ports.ts';

export interface RunDependencies {
  db: Kysely<Database>;
  runner: Runner;
  workspaces: Workspaces;
  site: SiteValues;
  /** Id of this machine's data directory. */
  hostId: string;
  /** Program in place of `ansible-playbook`, and the folder of the built-in debugging playbooks. */
  playbookCommand: string;
  debugPlaybooks: string;
  /** PATH, HOME and the like for playbooks. */
  baseEnvironment: Record<string, string>;
  logMaxBytes: number;
}

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
  const run = await openRun(db, { id: runId, sessionId, streamId: sessionId, layer, attempt, host: deps.hostId });

  if (run.state === 'created' || run.state === 'started') {
    const progress = { phase: 'layer', layer, attempt };
    // A run that was started and whose claim is gone lost its disk: it must not start a second time.
    if (run.state === 'created' && !(await runner.isStarted(runId))) {
      const spec = await makeSpec(deps, session, input, runId);
      await runner.start(spec, signal, (held, limit) =>
        noteProgress(db, sessionId, {
          ...progress,
          message: `waiting for one of ${limit} local runs, ${held} busy (MUSTER_LOCAL_RUNS)`,
        }),
      );
    }
    if (await runner.isStarted(runId)) {
      await noteRunStarted(db, runId);
      await noteProgress(db, sessionId, { ...progress, message: `running layer ${layer} (${playbook})` });
      let cursor: RunCursor = run.cursor;
      const end = await runner.watch(
        runId,
        cursor,
        async (batch) => {
          await shipBatch(db, run, cursor, batch);
          cursor = batch.cursor;
        },
        signal,
      );
      await closeRun(db, run, end);
    } else {
      await closeRun(db, run, { exit: null, results: null });
    }
  }
  return { index: layer, playbook, ...(await runOutcome(db, runId)) };
}

function playbookOf(session: SessionRow, layer: number): string {
  const { debug_playbook, layers } = session.snapshot;
  if (debug_playbook !== null) return `${debug_playbook}.yaml`;
  const found = layers.find((candidate) => candidate.index === layer);
  if (found === undefined) throw musterError('no_layer_selected', `The session has no layer ${layer}`);
  return found.playbook;
}

async function makeSpec(deps: RunDependencies, session: SessionRow, input: RunLayer, runId: string): Promise<RunSpec> {
  const { workspaces, site } = deps;
  const { sessionId, layer } = input;
  const { snapshot, target } = session;
  const paths = workspaces.paths(sessionId);
  const playbook = playbookOf(session, layer);
  const debug = snapshot.debug_playbook !== null;
  const layerDir = debug ? deps.debugPlaybooks : workspaces.layerDir(sessionId, layer);
  const file = await workspaces.inside(layerDir, playbook);
  if (file === null) {
    throw musterError('playbook_missing', `layer ${layer}: there is no playbook ${playbook} in its repository`);
  }
  const found = snapshot.layers.find((candidate) => candidate.index === layer);
  const limit = await limitOf(deps, session, input);
  const byFile = limitNeedsFile(limit);
  if (byFile) await workspaces.writePrivate(paths.limit, limitFileText(limit));
  const words = selectArguments({
    verbosity: session.ansible_verbosity,
    limit,
    passthrough: session.ansible_passthrough,
    target,
    limitFile: byFile ? paths.limit : undefined,
  });
  const sources = await Promise.all(
    [...new Set(snapshot.layers.flatMap(({ source }) => (source === null ? [] : [source])))].map(site.source),
  );
  return {
    runId,
    argv: [deps.playbookCommand, file, ...words],
    cwd: layerDir,
    env: runEnvironment({
      base: deps.baseEnvironment,
      sessionName: session.name,
      layer,
      cloneUrl: found?.url ?? '',
      playbook,
      commit: found?.commit ?? '',
      targetDefinition: target.definition,
      recordsState: recordsState({
        target,
        passthrough: session.ansible_passthrough,
        debugPlaybook: snapshot.debug_playbook,
      }),
      paths: {
        workspace: paths.dir,
        ansibleConfig: paths.ansibleConfig,
        inventory: paths.hosts,
        roles: `${layerDir}/roles`,
        sshKey: paths.sshKey,
        controlPath: paths.controlPath,
        vaultPassword: (await site.vaultPassword()) === null ? null : paths.vaultPassword,
      },
    }),
    masks: await site.masks(sources.filter((source) => source !== null)),
    logMaxBytes: deps.logMaxBytes,
  };
}

/** The session's limit, or the hosts that failed in the attempt before when only these are asked for. */
async function limitOf({ db }: RunDependencies, session: SessionRow, input: RunLayer): Promise<string> {
  if (input.hosts === 'failed') {
    const failed = await failedHostsOf(db, runIdOf(input.sessionId, input.attempt - 1, input.layer));
    if (failed.length > 0) return failed.join(',');
  }
  return session.ansible_limit ?? '';
}
