/** Apps: an archive is checked and its manifests are taken out when it is uploaded; nothing wrong is stored. */
import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { withoutSecretValues } from '../../domain/deployments/manifest-cleaning.ts';
import { notSupported } from '../../domain/deployments/not-supported.ts';
import type { ReadArchive } from '../../domain/deployments/ports.ts';
import type { Manifest } from '../../domain/deployments/read-manifests.ts';
import { nameInPath, type RecordKind } from '../../domain/deployments/record-path.ts';
import type { AppRecord, StoredRecord } from '../../domain/deployments/record-schema.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { findFile, insertFile, insertManifests, type StoredManifest } from '../../store/deployments/app-manifests.ts';
import { isAppInUse, isProfileInUse } from '../../store/deployments/contexts.ts';
import { holdRecord } from '../../store/deployments/records.ts';
import type { Seal } from '../sealing/seal.ts';
import {
  addRecord,
  type GivenRecord,
  getRecord,
  type RecordDependencies,
  recordNotFound,
  removeRecord,
} from './records.ts';

export interface AppDependencies extends RecordDependencies {
  readArchive: ReadArchive;
  /** Of archives. */
  archiveSeal: Seal;
  /** Of values of Secrets in manifests. */
  manifestSeal: Seal;
}

/** Returns where an archive is kept: it opens in no other row. */
const placeOfArchive = (path: string) => `archive ${path}`;

/**
 * Adds an app with its archive. Returns the record, and what of the archive was left out.
 * Throws `render_failed`, `not_found` for the composite app, `already_exists`, `not_supported`.
 */
export async function addApp(
  deps: AppDependencies,
  by: Acting,
  compositeApp: string,
  given: AppRecord,
  archive: Buffer,
): Promise<StoredRecord & { warnings?: string[] }> {
  if (given.spec?.muster?.substitute === true) throw notSupported('spec.muster.substitute');
  const prepared = await prepareApp(deps, compositeApp, given.metadata.name, archive);
  const place = { kind: 'app', parent: compositeApp } as const;
  const beside = (trx: Db, path: string) => writeApp(trx, path, prepared);
  const { metadata, spec } = given;
  const record = await addRecord(deps, by, place, { metadata, spec: specOfApp(spec?.dependsOn) }, { beside });
  const { warnings } = prepared;
  return warnings.length === 0 ? record : { ...record, warnings };
}

/** Returns the spec of an app: the apps that it waits for, each once. Whether they are there is looked at when it is instantiated. */
export function specOfApp(dependsOn: readonly string[] = []): AppRecord['spec'] {
  return dependsOn.length === 0 ? {} : { dependsOn: [...new Set(dependsOn)] };
}

/** What is stored of an archive, sealed where it has to be. */
export interface PreparedApp {
  sealed: Buffer;
  manifests: StoredManifest[];
  warnings: string[];
  /** Size of the files in the archive. */
  bytes: number;
}

/**
 * Reads and seals an archive before the transaction that stores it: the key may have to be made, by another connection.
 * Throws `render_failed`, naming the app, and `secret_store_unavailable`.
 */
export async function prepareApp(
  deps: Omit<AppDependencies, keyof RecordDependencies>,
  compositeApp: string,
  name: string,
  archive: Buffer,
  mostBytes?: number,
): Promise<PreparedApp> {
  const { manifests, warnings, bytes } = await deps.readArchive(archive, mostBytes).catch((error: unknown) => {
    if (!isMusterError(error) || error.code !== 'render_failed') throw error;
    throw musterError('render_failed', `App '${name}': ${error.detail}`);
  });
  const stored: StoredManifest[] = [];
  for (const manifest of manifests) stored.push(await storedManifest(deps, manifest));
  const sealed = await deps.archiveSeal.seal(archive, placeOfArchive(`${compositeApp}/apps/${name}`));
  return { sealed, manifests: stored, warnings, bytes };
}

/** Stores what belongs to the record of an app. */
export async function writeApp(trx: Db, path: string, { sealed, manifests }: PreparedApp): Promise<void> {
  await insertFile(trx, path, sealed);
  await insertManifests(trx, path, manifests);
}

/** Adds the profile of an app. Its content is kept and not read. */
export async function addProfile(
  deps: AppDependencies,
  by: Acting,
  profile: string,
  given: GivenRecord,
  archive: Buffer,
): Promise<StoredRecord> {
  const place = { kind: 'profile', parent: profile } as const;
  const sealed = await deps.archiveSeal.seal(archive, placeOfArchive(`${profile}/profiles/${given.metadata.name}`));
  return await addRecord(deps, by, place, given, { beside: (trx, path) => insertFile(trx, path, sealed) });
}

/** Returns a record and its file as it came. Throws `not_found`, `secret_unreadable`. */
export async function readRecordFile(
  deps: Pick<AppDependencies, 'db' | 'archiveSeal'>,
  kind: RecordKind,
  path: string,
): Promise<{ record: StoredRecord; file: Buffer }> {
  const record = await getRecord(deps, kind, path);
  const sealed = await findFile(deps.db, path);
  if (sealed === null) throw musterError('not_found', `'${path}' has no file`);
  return { record, file: await deps.archiveSeal.open(sealed, placeOfArchive(path)) };
}

/** Removes an app. Throws `not_found`, and `in_use` while a deployment of its composite app has not ended. */
export async function removeApp(deps: Pick<AppDependencies, 'db'>, path: string, compositeApp: string): Promise<void> {
  await removeRecord(deps, 'app', path, {
    before: async (trx) => {
      // No AppContext is made of it meanwhile.
      const above = await holdRecord(trx, { kind: 'composite-app', path: compositeApp }, 'update');
      if (above === null) throw recordNotFound('composite-app', compositeApp);
      if (!(await isAppInUse(trx, compositeApp))) return;
      throw musterError('in_use', 'A deployment of its composite app has not ended: terminate it first');
    },
  });
}

/** Removes a composite profile. Throws `not_found`, `has_children`, and `in_use` while a deployment with it has not ended. */
export async function removeProfile(
  deps: Pick<AppDependencies, 'db'>,
  path: string,
  compositeApp: string,
): Promise<void> {
  await removeRecord(deps, 'composite-profile', path, {
    check: async (trx) => {
      if (!(await isProfileInUse(trx, compositeApp, nameInPath(path)))) return;
      throw musterError('in_use', `A deployment with profile '${nameInPath(path)}' has not ended: terminate it first`);
    },
  });
}

/** Values of a Secret are sealed for a place of their own, so that its row can be copied into AppContexts. */
async function storedManifest(
  { manifestSeal }: Pick<AppDependencies, 'manifestSeal'>,
  { key, group, version, kind, namespace, name, manifest }: Manifest,
): Promise<StoredManifest> {
  const plain = withoutSecretValues(manifest);
  const names = { key, group, version, kind, namespace, name, manifest: JSON.stringify(plain) };
  if (plain === manifest) return { ...names, sealId: null, sealed: null };
  const { data, stringData } = manifest;
  const sealId = randomUUID();
  const values = JSON.stringify({
    ...(data === undefined ? {} : { data }),
    ...(stringData === undefined ? {} : { stringData }),
  });
  return { ...names, sealId, sealed: await manifestSeal.seal(Buffer.from(values), `manifest ${sealId}`) };
}
