import { loadSession, noteWarnings, pinCommits } from '../../../control/sessions/session-progress.ts';
import { musterError } from '../../../domain/errors.ts';
import { labelled } from '../../../domain/labelled.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import type { Clones, SiteValues, Workspaces } from '../../../domain/sessions/ports.ts';
import type { Snapshot, SnapshotRepository } from '../../../domain/sessions/schema.ts';
import type { Db } from '../../../store/connection/database.ts';
import { type IdentityDependencies, writeIdentity } from './host-identity.ts';
import { mayBeElsewhere } from './taken-from-us.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface CloneDependencies extends Pick<IdentityDependencies, 'trust'> {
  db: Db;
  clones: Clones;
  workspaces: Workspaces;
  site: SiteValues;
}

/** What a clone has brought. */
interface Found {
  commit: string;
  warnings: string[];
}

/** Repositories cloned at once. */
const WIDTH = 4;

/**
 * Makes the workspace and clones every repository of the session into it, concurrently; layers without a commit are
 * pinned to what was found, and the snapshot says so from then on (cfs-flows 2). Repeating it starts over.
 */
export async function cloneLayers(deps: CloneDependencies, sessionId: string, signal: AbortSignal): Promise<void> {
  const { db, workspaces, site } = deps;
  const session = await loadSession(db, sessionId);
  const { snapshot } = session;
  const paths = await workspaces.make(sessionId);
  await workspaces.writePrivate(paths.ansibleConfig, await site.ansibleConfig(snapshot.ansible_config));
  const { knownHosts } = await site.ssh();
  await workspaces.writePrivate(paths.knownHosts, knownHosts);
  const unsigned = await writeIdentity(deps, sessionId);
  await placeVaultPassword(deps, sessionId);

  const jobs: { repository: SnapshotRepository; dest: string; label: string }[] = snapshot.layers.map((layer) => ({
    repository: layer,
    dest: workspaces.layerDir(sessionId, layer.index),
    label: layerNumber(layer.index),
  }));
  if (snapshot.additional_inventory !== null) {
    jobs.push({ repository: snapshot.additional_inventory, dest: paths.hosts, label: 'additional inventory' });
  }
  const found = new Map<SnapshotRepository, Found>();
  const queue = [...jobs];
  const failed = new AbortController();
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const { repository, dest, label } = job;
      found.set(repository, await cloneOne(deps, repository, dest, label, AbortSignal.any([signal, failed.signal])));
    }
  };
  const workers = Array.from({ length: Math.min(WIDTH, jobs.length) }, () =>
    worker().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(workers);
  if (failed.signal.aborted) {
    // The next try starts over; what this one has written, keys too, must not lie about until a sweep.
    if (!mayBeElsewhere(signal)) await workspaces.remove(sessionId).catch(() => undefined);
    throw failed.signal.reason;
  }
  // In the order of the layers, whichever was there first.
  const warnings = jobs.flatMap(({ repository, label }) =>
    (found.get(repository)?.warnings ?? []).map((warning) => `${label}: ${warning}`),
  );
  await noteWarnings(db, sessionId, unsigned === null ? warnings : [unsigned, ...warnings]);
  await pinCommits(db, sessionId, withCommits(snapshot, found));
}

async function cloneOne(
  { clones, site }: CloneDependencies,
  repository: SnapshotRepository,
  dest: string,
  label: string,
  signal: AbortSignal,
): Promise<Found> {
  return labelled(label, async () => {
    const source = repository.source === null ? null : await site.source(repository.source);
    if (repository.source !== null && source === null) {
      throw musterError('source_unknown', `The source ${repository.source} does not exist.`);
    }
    const access = await site.repositoryAccess(source, repository.url);
    return clones.clone({
      ...access,
      url: repository.url,
      sourceName: repository.source,
      commit: repository.commit,
      accessOf: (url) => site.repositoryAccess(source, url),
      dest,
      signal,
    });
  });
}

function withCommits(snapshot: Snapshot, found: Map<SnapshotRepository, Found>): Snapshot {
  const pin = <T extends SnapshotRepository>(repository: T): T => ({
    ...repository,
    commit: found.get(repository)?.commit ?? repository.commit,
  });
  return {
    ...snapshot,
    layers: snapshot.layers.map(pin),
    additional_inventory: snapshot.additional_inventory === null ? null : pin(snapshot.additional_inventory),
  };
}
