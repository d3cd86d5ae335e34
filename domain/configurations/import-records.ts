import { type MusterError, musterError } from '../errors.ts';
import { sameJson } from '../import-record.ts';
import type { ForeignConfiguration, ForeignSource } from './import-schema.ts';
import { conflictingLayers, layerSecret, layersOf, sourceUnknown } from './layer-rules.ts';
import type { Configuration, Source } from './schema.ts';

/**
 * The configuration of another CFS as it is stored here, with its commits, branches and time. No remote is asked: what the
 * components reached is told by those commits. Without a time it keeps the stored one as long as nothing else differs; without
 * members of Muster's own, which another CFS does not know, it keeps the stored ones.
 */
export function importedConfiguration(
  { last_updated, ...rest }: ForeignConfiguration,
  stored: Configuration | undefined,
  now: string,
): Configuration {
  const muster = rest.muster ?? stored?.muster;
  const foreign = { ...rest, ...(muster === undefined ? {} : { muster }) };
  if (last_updated !== undefined) return { ...foreign, last_updated };
  const kept = stored === undefined ? undefined : { ...foreign, last_updated: stored.last_updated };
  return kept !== undefined && sameJson(kept, stored) ? kept : { ...foreign, last_updated: now };
}

/** The first rule that the configuration breaks here, or null; `sources` are the names that exist, with their URLs as far as known (cfs-api 11). */
export function importedConfigurationMistake(
  record: ForeignConfiguration,
  sources: { names: ReadonlySet<string>; urls: ReadonlyMap<string, string> },
  defaultPlaybook: string,
): MusterError | null {
  for (const { layer, path } of layersOf(record)) {
    if ((layer.source === undefined) === (layer.clone_url === undefined)) {
      return musterError('source_or_url', 'A layer needs source or clone_url, and not both', path);
    }
    if (layer.source !== undefined && !sources.names.has(layer.source)) return sourceUnknown(layer.source);
  }
  return layerSecret(record) ?? conflictingLayers(record.layers, sources.urls, defaultPlaybook);
}

/** What an administrator should know of a configuration that was taken over. */
export function importedConfigurationNotes(record: ForeignConfiguration): string[] {
  return layersOf(record)
    .filter(({ layer }) => layer.branch !== undefined && layer.commit === undefined)
    .map(({ layer, path }) => `${path}: branch ${layer.branch} has no commit until its branches are updated`);
}

/**
 * The source of another CFS as it is stored here. A source that exists keeps the name of its own secret: its credentials
 * are here already.
 */
export function importedSource(
  { last_updated, credentials, ca_cert, ...foreign }: ForeignSource,
  stored: Source | undefined,
  now: string,
): Source {
  const record = {
    ...foreign,
    credentials: { ...credentials, secret_name: stored?.credentials.secret_name ?? credentials.secret_name },
    ca_cert: ca_cert ?? null,
  };
  if (last_updated !== undefined) return { ...record, last_updated };
  const kept = stored === undefined ? undefined : { ...record, last_updated: stored.last_updated };
  return kept !== undefined && sameJson(kept, stored) ? kept : { ...record, last_updated: now };
}
