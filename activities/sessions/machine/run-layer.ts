import type { ImageKeys } from '../../../control/sessions/images/image-keys.ts';
import { runOutcome } from '../../../control/sessions/run-outcome.ts';
import { noteProgress, noteWarnings } from '../../../control/sessions/session-progress.ts';
import { isMusterError, musterError } from '../../../domain/errors.ts';
import type { RunSpec } from '../../../domain/runs/runner.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import { missingRequirements } from '../../../domain/sessions/missing-requirements.ts';
import type { LayerOutcome } from '../../../domain/sessions/outcome.ts';
import type { MissingRequirements, TenantVault, Workspaces } from '../../../domain/sessions/ports.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { type RunToEndDependencies, runToEnd } from '../../runs/run-to-end.ts';
import type { RunLayer } from '../contract.ts';
import { keepIdentity, refreshIdentity } from './host-identity.ts';
import { type LayerDependencies, layerCommand, namedLayer, placeIn, playbookOf } from './layer-command.ts';
import { tenantLogin } from './tenant-login.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface RunDependencies extends LayerDependencies, RunToEndDependencies {
  requirements: MissingRequirements;
  workspaces: Workspaces;
  imageKeys: Pick<ImageKeys, 'read'>;
  /** Where tenants keep their secrets; unset: nowhere. */
  tenantVault?: TenantVault | undefined;
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
export async function runLayer(
  deps: RunDependencies,
  session: SessionRow,
  input: RunLayer,
  signal: AbortSignal,
): Promise<LayerOutcome> {
  const { db } = deps;
  const { sessionId, layer, attempt } = input;
  const runId = runIdOf(sessionId, attempt, layer);
  const playbook = playbookOf(session, layer);

  await runToEnd(
    deps,
    {
      run: { id: runId, sessionId, streamId: sessionId, layer, attempt },
      name: layerNumber(layer),
      spec: () => makeSpec(deps, session, input, runId, signal),
      tell: (told) => {
        if (told.step === 'running') {
          return noteProgress(deps, sessionId, { step: 'layer', layer, attempt, name: namedLayer(session, layer) });
        }
        if (told.step === 'start_failed') {
          const { detail, code } = told;
          return noteProgress(deps, sessionId, { step: 'start_again', layer, attempt, detail, code });
        }
        const { limit, held } = told;
        return noteProgress(deps, sessionId, { step: 'local_run', layer, attempt, limit, held });
      },
      whileRunning: () => keepIdentity(deps, sessionId, (warning) => noteWarnings(deps, sessionId, [warning])),
    },
    signal,
  );
  return { index: layer, playbook, place: placeIn(session, layer), ...(await runOutcome(db, runId)) };
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
  await noteWarnings(deps, sessionId, tenant.warnings);
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
    inventory: { folder: paths.hosts, last: debug || layer === snapshot.layers.at(-1)?.index },
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
