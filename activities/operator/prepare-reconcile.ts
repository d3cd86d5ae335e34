import { entryOf, type HashedEntry, type OperatorSite } from '../../control/operator/operator-site.ts';
import { isMusterError } from '../../domain/errors.ts';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import { cancelledBegin, decideBegin } from '../../domain/operator/decide-begin.ts';
import type { OwnerText } from '../../domain/operator/owner-text.ts';
import { type ReconcileBegin, runIdOfReconcile } from '../../domain/operator/reconcile.ts';
import { runDirectory } from '../../domain/operator/run-directory.ts';
import {
  artifactsOf,
  ignoredAnnotations,
  VERBOSITY_ANNOTATION,
  verbosityOf,
} from '../../domain/operator/run-settings.ts';
import { runVariables } from '../../domain/operator/run-variables.ts';
import { secretsOf } from '../../domain/operator/secret-values.ts';
import { markRunning, UNABLE } from '../../domain/operator/status.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { findReconcile, type ReconcileRow, writeBegin } from '../../store/operator/reconciles.ts';
import { writeStatus } from './write-status.ts';

/** How runs are started on this machine. */
export interface RunsHere {
  environment: Readonly<Record<string, string | undefined>>;
  /** Value of `--ansible-args`. */
  ansibleArgs: string;
  /** Returns the absolute path of ansible-runner; null where there is none. */
  findRunner(): Promise<string | null>;
}

/** A finalizer or a status was changed by somebody else meanwhile: the step begins again with the resource as it is then. */
export class ChangedMeanwhile extends Error {
  override name = 'ChangedMeanwhile';
}

/** The first step of a reconcile. Returns whether it runs anything; a step that was done before says the same again. */
export async function prepareReconcile(site: OperatorSite, here: RunsHere, reconcileId: string): Promise<boolean> {
  const { db } = site;
  const reconcile = await findReconcile(db, reconcileId);
  if (reconcile === null || reconcile.endedAt !== null) return false;
  if (reconcile.begin !== null) return reconcile.begin.does === 'run';
  const hashed = entryOf(site, reconcile);
  const { resource, begin } = await decide(site, here, reconcile, hashed).catch((error: unknown) => {
    // The cluster will say the same for ever: the record says it, and it is tried again after the back-off.
    if (!isMusterError(error) || error.code !== 'cluster_refused') throw error;
    site.log.warn({ reconcile: reconcileId, err: error.detail }, 'a reconcile was refused by the cluster');
    return { resource: null, begin: { does: 'fail' as const, message: error.detail, status: false } };
  });
  const decided = await writeBegin(
    db,
    reconcile,
    begin,
    {
      dirty: reconcile.dirty,
      generation: resource?.metadata.generation ?? (resource === null ? null : 0),
      entryHash: hashed?.hash ?? '',
      runId: begin.does === 'run' ? runIdOfReconcile(reconcileId) : null,
      deletionCancels: hashed?.entry.muster.on_delete === 'cancel',
    },
    site.clock(),
  );
  return decided.does === 'run';
}

interface Decided {
  /** As it was read; null where there is none. */
  resource: CustomResource | null;
  begin: ReconcileBegin;
}

async function decide(
  site: OperatorSite,
  here: RunsHere,
  reconcile: ReconcileRow,
  hashed: HashedEntry | null,
): Promise<Decided> {
  if (hashed === null) return { resource: null, begin: GONE };
  const read = await site.cluster.read(reconcile);
  const resource = read?.metadata.uid === reconcile.uid ? read : null;
  return { resource, begin: await begun(site, here, reconcile, hashed, resource) };
}

/** Whose dependents the objects become that a run of the resource makes. */
function ownerOfRun({ apiVersion, kind, metadata }: CustomResource): OwnerText {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, namespace: metadata.namespace ?? '' };
}

/** What a disk says that is full, worn or not ours, or on which something is missing that the run was to get. */
const DISK_CODES: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'ENOENT',
  'ENOTDIR',
]);

const isDiskError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && DISK_CODES.has(error.code);

/** The file has no entry of this kind any more. */
const GONE: ReconcileBegin = { does: 'end', outcome: 'gone' };
const NO_STATUS = 'the status cannot be written: the kind has no subresource status';
const NO_RUNNER = 'ansible-runner was not found: set MUSTER_ANSIBLE_RUNNER';

async function begun(
  site: OperatorSite,
  here: RunsHere,
  reconcile: ReconcileRow,
  { entry }: HashedEntry,
  found: CustomResource | null,
): Promise<ReconcileBegin> {
  if (reconcile.cancelledBy !== null) return cancelledBegin(found, entry, site.defaultPeriodSeconds);
  const begin = decideBegin(found, entry, site.defaultPeriodSeconds, reconcile.drain);
  if (found === null || begin.does === 'end') return begin.does === 'end' ? begin : GONE;
  if (begin.does === 'drain') {
    if (begin.finalizers !== null) {
      const { answer } = await site.cluster.writeFinalizers(reconcile, found, begin.finalizers);
      if (answer === 'conflict') throw new ChangedMeanwhile('its finalizers');
    }
    return { does: 'end', outcome: 'ok', drained: true };
  }
  if (begin.does === 'fail') return { ...begin, status: true };
  let resource = found;
  if (begin.addFinalizer !== null) {
    const finalizers = [...(resource.metadata.finalizers ?? []), begin.addFinalizer];
    const written = await site.cluster.writeFinalizers(reconcile, resource, finalizers);
    if (written.answer !== 'written') throw new ChangedMeanwhile(`its finalizer: ${written.answer}`);
    resource = written.resource;
  }
  if (entry.manage_status) {
    const marked = await writeStatus(site, reconcile, (status) => markRunning(status, { now: site.clock() }));
    if (marked === 'absent') return { does: 'fail', message: NO_STATUS, status: false };
    resource = marked;
  }
  if ((await here.findRunner()) === null) {
    site.log.warn({ reconcile: reconcile.id }, NO_RUNNER);
    return { does: 'fail', message: UNABLE, status: true };
  }
  const runId = runIdOfReconcile(reconcile.id);
  const { variables, collisions } = runVariables(resource, entry, begin.finalizerRun);
  for (const { kept, dropped } of collisions) {
    site.log.warn(
      { kind: entry.kind, namespace: reconcile.namespace, name: reconcile.name, kept, dropped },
      'two keys of the spec become one variable',
    );
  }
  const { environment, ansibleArgs } = here;
  const directory = runDirectory({
    home: site.home,
    env: environment,
    kubeconfig: site.directories.paths(runId).kubeconfig,
    variables,
    script: begin.script,
    ansibleArgs,
  });
  try {
    const way = await site.ways.open({ runId, owner: ownerOfRun(resource), entry });
    await site.directories.make(runId, directory, way.kubeconfig, [...secretsOf(resource), way.password]);
  } catch (error) {
    if (!isDiskError(error)) throw error;
    site.log.warn({ reconcile: reconcile.id, err: messageOf(error) }, 'the directory of a run could not be made');
    await site.ways.close(runId);
    await site.directories.tidy(runId);
    return { does: 'fail', message: UNABLE, status: true };
  }
  const { finalizerRun, periodSeconds, script } = begin;
  const annotations = resource.metadata.annotations ?? {};
  tellIgnored(site, reconcile, annotations);
  const maxArtifacts = artifactsOf(annotations, entry);
  return {
    ...{ does: 'run', finalizerRun, periodSeconds, script, verbosity: verbosityOf(annotations, entry), maxArtifacts },
    ...(reconcile.drain === null ? {} : { drained: true }),
    ...(Number(annotations[VERBOSITY_ANNOTATION]) > 0 ? { logsVerbosely: true } : {}),
  };
}

/** A value that is no number is no reason to stop: the run goes on without it. */
function tellIgnored(
  { log, notices }: Pick<OperatorSite, 'log' | 'notices'>,
  reconcile: ReconcileRow,
  annotations: Readonly<Record<string, string>>,
): void {
  const { kind, namespace, name } = reconcile;
  for (const annotation of ignoredAnnotations(annotations)) {
    const sentence = `The annotation ${annotation} is no integer, and has no effect`;
    log.warn({ kind, namespace, name }, sentence);
    notices.tell(reconcile, 'BadAnnotation', sentence);
  }
}
