import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { jobNameOf } from '../../../control/sessions/cluster/job-name.ts';
import { loadSession, noteProgress, noteWarnings, pinCommits } from '../../../control/sessions/session-progress.ts';
import type { RepositoryAccess } from '../../../domain/configurations/ports.ts';
import { musterError } from '../../../domain/errors.ts';
import { labelled } from '../../../domain/labelled.ts';
import type { RunnerProfile } from '../../../domain/sessions/cluster/cluster-job.ts';
import { COMPATIBLE_IMAGE_KEY, POD_PATHS } from '../../../domain/sessions/cluster/pod-paths.ts';
import { IMAGE_PYTHON, IMAGE_TO_JOB } from '../../../domain/sessions/images/image-inventory.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import type { Clones, SiteValues, Workspaces } from '../../../domain/sessions/ports.ts';
import type { Snapshot, SnapshotRepository, TargetDefinition } from '../../../domain/sessions/schema.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findSessionJob, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import type { PreparedJob } from '../contract.ts';
import { mayBeElsewhere } from '../machine/taken-from-us.ts';
import { type InventoryDependencies, type ReadElsewhere, writeInventory } from '../machine/write-inventory.ts';
import { sourceOf } from '../source-of.ts';

/** The file that Muster generates, below the inventory folder (cfs-flows 3). */
const GENERATED = '01-cfs-generated.yaml';

/** How the image of each profile reads an inventory. */
const READ_BY: Readonly<Record<RunnerProfile, ReadElsewhere>> = {
  restricted: { login: { keyFile: POD_PATHS.imageKey, interpreter: IMAGE_PYTHON.own }, form: 'data' },
  compatible: { login: { keyFile: COMPATIBLE_IMAGE_KEY, interpreter: IMAGE_PYTHON.compatible }, form: 'yaml' },
};

export interface PrepareDependencies extends InventoryDependencies {
  db: Db;
  workspaces: Workspaces;
  site: SiteValues;
  clones: Clones;
  /** The commit that a remote's default branch is at. */
  heads: {
    resolveHead(
      request: RepositoryAccess & { url: string; sourceName: string | null; signal: AbortSignal },
    ): Promise<string>;
  };
  profile: RunnerProfile;
  clock(): Date;
}

/**
 * What can be found out before the Job is made: the commits that it clones, so that the session is the same wherever its pod
 * runs, and the inventory, for which the pod would need the rights of this process. Repeating it starts over.
 */
export async function prepareJob(
  deps: PrepareDependencies,
  session: SessionRow,
  signal: AbortSignal,
): Promise<PreparedJob> {
  const { db, workspaces, site } = deps;
  const { id: sessionId } = session;
  if (session.job === null) throw musterError('session_not_found', `Session ${session.name} was not admitted`);
  // What a try before has recorded may be running already, whatever this worker's setting is.
  const profile = (await findSessionJob(db, sessionId))?.profile ?? deps.profile;
  await noteProgress(deps, sessionId, { step: 'prepare_job' });
  const snapshot = await withCommits(deps, session.snapshot, signal);
  await pinCommits(deps, sessionId, snapshot);

  const paths = await workspaces.make(sessionId);
  try {
    await workspaces.writePrivate(paths.ansibleConfig, await site.ansibleConfig(snapshot.ansible_config));
    if (snapshot.additional_inventory !== null) {
      const warnings = await cloneInventory(deps, snapshot.additional_inventory, paths.hosts, signal);
      await noteWarnings(deps, sessionId, warnings);
    }
    // With the commits that are pinned now.
    const pinned = await loadSession(db, sessionId);
    const { leases, ...told } = await writeInventory(deps, pinned, signal, READ_BY[profile]);
    const files = await filesOf(session.target.definition, paths);
    // What another try has recorded meanwhile stays.
    signal.throwIfAborted();
    const name = jobNameOf(sessionId, session.admitted_at);
    await saveSessionJob(db, { sessionId, name, profile, inventory: { files }, leases }, deps.clock());
    return { leases, ...told, drivesItself: profile === 'compatible' };
  } finally {
    if (!mayBeElsewhere(signal)) await workspaces.remove(sessionId).catch(() => undefined);
  }
}

/**
 * Texts of the files that were written for the target, by path below `/inventory`. Throws where one is missing: an earlier try that did
 * not know yet that it was given up has removed the folder.
 */
async function filesOf(
  definition: TargetDefinition,
  paths: { dir: string; hosts: string },
): Promise<Record<string, string>> {
  const wanted = [
    ...(definition === 'repo' ? [] : [{ path: `hosts/${GENERATED}`, folder: paths.hosts }]),
    ...(definition === 'image' ? [{ path: IMAGE_TO_JOB, folder: paths.dir }] : []),
  ];
  const texts = wanted.map(async ({ path, folder }) => [path, await readFile(join(folder, basename(path)), 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Every repository with the commit that it has now, where the session has named none. */
async function withCommits(deps: PrepareDependencies, snapshot: Snapshot, signal: AbortSignal): Promise<Snapshot> {
  const pin = async <T extends SnapshotRepository>(repository: T, label: string): Promise<T> => {
    if (repository.commit !== null) return repository;
    const commit = await labelled(label, async () => {
      const access = await accessOf(deps, repository);
      return deps.heads.resolveHead({ ...access, url: repository.url, sourceName: repository.source, signal });
    });
    return { ...repository, commit };
  };
  const { additional_inventory: inventory } = snapshot;
  return {
    ...snapshot,
    layers: await Promise.all(snapshot.layers.map((layer) => pin(layer, layerNumber(layer.index)))),
    additional_inventory: inventory === null ? null : await pin(inventory, 'additional inventory'),
  };
}

/** The additional inventory as the pod will see it, so that limits mean the same here and there. */
async function cloneInventory(
  deps: PrepareDependencies,
  repository: SnapshotRepository,
  dest: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { url, source: sourceName, commit } = repository;
  const { warnings } = await labelled('additional inventory', async () => {
    const other = (named: string) => accessOf(deps, { ...repository, url: named });
    return deps.clones.clone({
      ...(await other(url)),
      url,
      sourceName,
      commit,
      accessOf: other,
      dest,
      signal,
    });
  });
  return warnings.map((warning) => `additional inventory: ${warning}`);
}

async function accessOf({ site }: PrepareDependencies, repository: SnapshotRepository): Promise<RepositoryAccess> {
  return site.repositoryAccess(await sourceOf(site, repository), repository.url);
}
