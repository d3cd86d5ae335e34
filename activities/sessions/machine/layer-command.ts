/** What a layer's playbook is run with, whether a worker runs it or the pod of the session's Job. */

import { imagesNotReached } from '../../../control/sessions/images/judge-images.ts';
import { maskAddress } from '../../../domain/configurations/address-secrets.ts';
import { musterError } from '../../../domain/errors.ts';
import { type RunEnvironment, runEnvironment, setsCommonArguments } from '../../../domain/runs/run-environment.ts';
import { limitOfRun, recordsState, selectArguments } from '../../../domain/sessions/ansible-arguments.ts';
import { limitFileText, limitNeedsFile } from '../../../domain/sessions/ansible-limit.ts';
import { isCheck } from '../../../domain/sessions/check-mode.ts';
import { type LayerCount, layerName, placeOfLayer } from '../../../domain/sessions/layer-name.ts';
import type { SiteValues } from '../../../domain/sessions/ports.ts';
import type { Db } from '../../../store/connection/database.ts';
import { unsuccessfulHosts } from '../../../store/runs/host-results.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import type { RunLayer } from '../contract.ts';
import type { IdentityDependencies } from './host-identity.ts';

export interface LayerDependencies extends Pick<IdentityDependencies, 'trust'> {
  db: Db;
  site: SiteValues;
  /** ARA server that runs report to as well, and the JSON file with its credentials; unset: none. */
  ara?: { server: string; credentialsFile: string | undefined } | undefined;
}

/** Where the playbook finds its files; a key that it is not to have is left out of its environment. */
export interface LayerPlace {
  /** PATH, HOME and the like for the playbook; `{}` where they are added later. */
  base: Record<string, string>;
  /** The file of a limit of many hosts. */
  limit: string;
  /** Begin of the paths of the files of extra variables. */
  extraVars: string;
  /** The file with ARA's credentials; undefined where there is none. */
  araCredentials: string | undefined;
  paths: RunEnvironment['paths'] & { plainKey: string };
}

export interface LayerCommand {
  /** Words after the playbook. */
  words: string[];
  /** Text of the file that a limit of many hosts goes by, or null. */
  limitFile: string | null;
  /** Texts of the files of extra variables, by path. */
  extraVars: Record<string, string>;
  environment: Record<string, string>;
}

/** The playbook of a layer; of a debugging session the built-in one. */
export function playbookOf(session: SessionRow, layer: number): string {
  const { debug_playbook, layers } = session.snapshot;
  if (debug_playbook !== null) return `${debug_playbook}.yaml`;
  const found = layers.find((candidate) => candidate.index === layer);
  if (found === undefined) throw musterError('no_layer_selected', `The session has no layer ${layer}`);
  return found.playbook;
}

/** Of a playbook's name so many characters go into the plan of a session: it is there to be read. */
const SHOWN = 100;

/** The playbooks of a session in the order of its layers, for people. */
export function playbooksOf({ snapshot }: SessionRow): string[] {
  const { debug_playbook: debug, layers } = snapshot;
  const names = debug === null ? layers.map(({ playbook }) => playbook) : [`${debug}.yaml`];
  return names.map((name) => name.slice(0, SHOWN));
}

/** A layer of a session as messages call it. */
export function namedLayer(session: SessionRow, layer: number): string {
  return layerName(layer, placeIn(session, layer), playbookOf(session, layer));
}

/** Which of the layers of its session a layer is. */
export function placeIn({ snapshot }: SessionRow, layer: number): LayerCount | undefined {
  return snapshot.debug_playbook === null ? placeOfLayer(snapshot.layers, layer) : { number: 1, of: 1 };
}

/** Words and environment of one attempt of one layer. */
export async function layerCommand(
  deps: LayerDependencies,
  session: SessionRow,
  input: RunLayer,
  place: LayerPlace,
): Promise<LayerCommand> {
  const { site, ara } = deps;
  const { target, snapshot, ansible_passthrough: passthrough } = session;
  const { layer } = input;
  const check = isCheck(session);
  const limit = await limitOf(deps, session, input);
  const byFile = limitNeedsFile(limit);
  const found = snapshot.layers.find((candidate) => candidate.index === layer);
  const isImage = target.definition === 'image';
  const hasArguments = isImage || deps.trust.hasOwnKey;
  // Muster's options for ssh would replace those of an ansible.cfg.
  const freeArguments = hasArguments && !setsCommonArguments(await site.ansibleConfig(snapshot.ansible_config));
  // The installation's own key is offered besides the key of the certificate, which Vault makes.
  const offersPlainKey = !isImage && freeArguments;
  return {
    ...selectArguments({
      verbosity: session.ansible_verbosity,
      limit,
      passthrough,
      target,
      limitFile: byFile ? place.limit : undefined,
      extraVars: place.extraVars,
      check,
    }),
    limitFile: byFile ? limitFileText(limit) : null,
    environment: runEnvironment({
      base: place.base,
      sessionName: session.name,
      layer,
      cloneUrl: maskAddress(found?.url ?? ''),
      playbook: playbookOf(session, layer),
      commit: found?.commit ?? '',
      targetDefinition: target.definition,
      image: isImage ? { freeArguments } : undefined,
      recordsState: recordsState({ target, passthrough, debugPlaybook: snapshot.debug_playbook, check }),
      ara: ara && { server: ara.server, credentials: place.araCredentials },
      paths: { ...place.paths, plainKey: offersPlainKey ? place.paths.plainKey : undefined },
    }),
  };
}

/**
 * The session's limit, or the hosts that have not reached the layer in an attempt before when only these are asked for; with them the
 * images that the layer never came to, which would else become new ones without it.
 */
async function limitOf({ db }: LayerDependencies, session: SessionRow, input: RunLayer): Promise<string> {
  if (input.hosts === 'failed') {
    const { sessionId, layer, attempt } = input;
    const failed = await unsuccessfulHosts(db, { sessionId, layer, before: attempt });
    if (failed.length > 0) return [...failed, ...(await imagesNotReached(db, session, input.layer))].join(',');
  }
  return limitOfRun(session) ?? '';
}
