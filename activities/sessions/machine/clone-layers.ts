import { atOnce } from '../../../control/changes/at-once.ts';
import { noteWarnings, pinCommits } from '../../../control/sessions/session-progress.ts';
import { labelled } from '../../../domain/labelled.ts';
import { layerNumber } from '../../../domain/sessions/layer-name.ts';
import type { Clones, SiteValues, Workspaces } from '../../../domain/sessions/ports.ts';
import type { Snapshot, SnapshotRepository } from '../../../domain/sessions/schema.ts';
import type { Db } from '../../../store/connection/database.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { sourceOf } from '../source-of.ts';
import { type IdentityDependencies, writeIdentity } from './host-identity.ts';
import { mayBeElsewhere } from './taken-from-us.ts';
import { placeVaultPassword } from './vault-password.ts';

export interface CloneDependencies extends Pick<IdentityDependencies, 'trust'> {
  db: Db;
  clock(): Date;
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
export async function cloneLayers(deps: CloneDependencies, session: SessionRow, signal: AbortSignal): Promise<void> {
  const { workspaces, site } = deps;
  const { id: sessionId, snapshot } = session;
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
  const failed = new AbortController();
  const isWanted = AbortSignal.any([signal, failed.signal]);
  // No clone is left behind: the first failure breaks the others off, and all of them are waited for.
  const clone = async ({ repository, dest, label }: (typeof jobs)[number]) => {
    const one = cloneOne(deps, repository, dest, label, isWanted);
    await one.then((answer) => found.set(repository, answer)).catch((error: unknown) => failed.abort(error));
  };
  await atOnce(WIDTH, jobs, clone, () => !failed.signal.aborted);
  if (failed.signal.aborted) {
    // The next try starts over; what this one has written, keys too, must not lie about until a sweep.
    if (!mayBeElsewhere(signal)) await workspaces.remove(sessionId).catch(() => undefined);
    throw failed.signal.reason;
  }
  // In the order of the layers, whichever was there first.
  const warnings = jobs.flatMap(({ repository, label }) =>
    (found.get(repository)?.warnings ?? []).map((warning) => `${label}: ${warning}`),
  );
  await noteWarnings(deps, sessionId, unsigned === null ? warnings : [unsigned, ...warnings]);
  await pinCommits(deps, sessionId, withCommits(snapshot, found));
}

async function cloneOne(
  { clones, site }: CloneDependencies,
  repository: SnapshotRepository,
  dest: string,
  label: string,
  signal: AbortSignal,
): Promise<Found> {
  return labelled(label, async () => {
    const source = await sourceOf(site, repository);
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
