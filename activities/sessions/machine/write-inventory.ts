import { join } from 'node:path';
import type { ImageKeys } from '../../../control/sessions/images/image-keys.ts';
import { openImages } from '../../../control/sessions/images/session-images.ts';
import { noteNeededComponents } from '../../../control/sessions/needed-components.ts';
import { noteProgress, noteWarnings } from '../../../control/sessions/session-progress.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { effectiveLimit } from '../../../domain/sessions/ansible-arguments.ts';
import {
  IMAGE_PYTHON,
  IMAGE_TO_JOB,
  type ImageLogin,
  imageToJob,
} from '../../../domain/sessions/images/image-inventory.ts';
import { groupWarnings, whyNone } from '../../../domain/sessions/limit-warnings.ts';
import type { Inventories } from '../../../domain/sessions/ports.ts';
import { describeAim } from '../../../domain/sessions/run-summary.ts';
import type { Db } from '../../../store/connection/database.ts';
import { writeAbsentHosts } from '../../../store/sessions/progress.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import type { PreparedInventory } from '../contract.ts';
import { checkOwnHosts, type LimitDependencies, matchedHosts, settleLimit } from './limit-hosts.ts';

export interface InventoryDependencies extends LimitDependencies {
  db: Db;
  clock(): Date;
  inventories: Inventories;
  readOptions(): Promise<Options>;
  imageKeys: Pick<ImageKeys, 'read'>;
}

/** Where the inventory is read; of a Job, not here. */
export interface ReadElsewhere {
  /** Of a session on images, how Ansible logs in there. */
  login: ImageLogin;
  form: 'data' | 'yaml';
}

/**
 * Writes the session's inventory into its workspace; a dynamic one without a host fails the session, but for debugging.
 * Records which hosts of its limit are missing, and which components it has to take before it runs.
 * @param elsewhere what is particular where its playbooks run; default: here, with a key for images in the workspace
 */
export async function writeInventory(
  deps: InventoryDependencies,
  session: SessionRow,
  signal: AbortSignal,
  elsewhere?: ReadElsewhere,
): Promise<PreparedInventory> {
  const { db, workspaces, inventories, readOptions } = deps;
  const { id: sessionId, target, ansible_limit, snapshot } = session;
  await noteProgress(deps, sessionId, { step: 'inventory' });
  const options = await readOptions();
  const paths = workspaces.paths(sessionId);
  const images = target.definition === 'image' ? await imagesOf(deps, sessionId, elsewhere?.login) : null;
  const { hosts, limit, warnings } = await inventories.write({
    definition: target.definition,
    groups: target.groups ?? [],
    limit: effectiveLimit({ limit: ansible_limit, target }),
    scope: options.inventory_scope,
    allowPartial: options.allow_partial_inventory,
    form: elsewhere?.form ?? 'data',
    dir: paths.hosts,
    ...(images === null ? {} : { images }),
    signal,
  });
  await noteWarnings(deps, sessionId, warnings);
  const settled = await settleLimit(deps, session, limit, signal);
  const { names } = settled;
  const isOfHosts = session.limit_of_hosts && snapshot.debug_playbook === null;
  if (names !== null) {
    const missing = isOfHosts ? [...names.absent, ...names.groups] : names.absent;
    await writeAbsentHosts(db, sessionId, missing);
    await noteWarnings(deps, sessionId, groupWarnings(names, isOfHosts));
  }
  const ofHosts = isOfHosts ? names : null;
  const isEmpty = hosts === 0 && target.definition === 'dynamic' && snapshot.debug_playbook === null;
  if (isEmpty || ofHosts?.hosts.length === 0) {
    const where = ansible_limit ? ` for the limit ${ansible_limit.slice(0, 200)}` : '';
    throw musterError('inventory_empty', `The inventory has no host${where}${whyNone(ofHosts)}`);
  }
  if (ofHosts !== null) await checkOwnHosts(deps, session, ofHosts, signal);
  const areHosts = names !== null && (isOfHosts || names.groups.length === 0);
  return {
    leases: await noteNeededComponents(deps, session, () => matchedHosts(deps, session, settled, signal)),
    aim: describeAim({
      hosts: areHosts ? names.hosts : null,
      limit: effectiveLimit({ limit: ansible_limit, target }),
      inHand: hosts,
    }),
  };
}

/** The shells of the session's images. The key for them is written into the workspace, unless Ansible has it elsewhere. */
async function imagesOf(
  { db, workspaces, imageKeys }: InventoryDependencies,
  sessionId: string,
  elsewhere: ImageLogin | undefined,
) {
  const key = await imageKeys.read(sessionId);
  if (key === null) throw musterError('image_job_failed', 'the key of the session for images is gone');
  const login = elsewhere ?? { keyFile: workspaces.paths(sessionId).imageKey, interpreter: IMAGE_PYTHON.own };
  if (elsewhere === undefined) await workspaces.writePrivate(login.keyFile, key.privateKey);
  const open = await openImages(db, sessionId);
  await workspaces.writePrivate(join(workspaces.paths(sessionId).dir, IMAGE_TO_JOB), imageToJob(open));
  return { open, ...login };
}
