import type {
  ConfigurationHistory,
  ConfigurationHistoryQuery,
  ConfigurationVersion,
} from '../../domain/configurations/history-schema.ts';
import type { Layer, Options } from '../../domain/configurations/schema.ts';
import { notKept } from '../../domain/configurations/version-history.ts';
import { oldestChangeOf } from '../../store/audit/audit.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { desiredDigest } from '../batches/desired-digest.ts';
import { configurationNotFound } from '../configurations/read-configuration.ts';
import { inOneState, type WalkedVersion, walkVersions } from './walk-versions.ts';

/** A page ends when its versions are so large, in characters. */
const PAGE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Returns a page of the versions of a configuration, the newest first.
 * Throws `configuration_not_found` where there is neither a configuration nor a change of one.
 */
export function configurationHistory(
  db: Db,
  name: string,
  { limit, after_id }: ConfigurationHistoryQuery,
): Promise<ConfigurationHistory> {
  return inOneState(db, async (trx) => {
    const options = await readOptions(trx);
    const reaches_back_to = (await oldestChangeOf(trx, 'configuration', name))?.toISOString() ?? null;
    const versions: ConfigurationVersion[] = [];
    let size = 0;
    let isBehind = after_id === '';
    for await (const walked of walkVersions(trx, name)) {
      const last = versions.at(-1);
      if (last !== undefined && (versions.length === limit || size > PAGE_CHARACTERS)) {
        return { versions, reaches_back_to, next: { limit, after_id: last.id } };
      }
      if (isBehind) {
        const version = shownVersion(walked, options);
        size += JSON.stringify(version).length;
        versions.push(version);
      }
      isBehind ||= walked.id === after_id;
    }
    if (versions.length === 0 && after_id === '') throw configurationNotFound(name);
    return { versions, reaches_back_to, next: null };
  });
}

function shownVersion({ content, ...version }: WalkedVersion, options: Options): ConfigurationVersion {
  const not_kept = notKept(content);
  const { layers = null, ...others } = Object.fromEntries(
    Object.entries(content ?? {}).filter(([member]) => !not_kept.includes(member)),
  ) as { layers?: Layer[] | null };
  return {
    ...version,
    version: layers === null ? null : desiredDigest(layers, options),
    layers,
    ...others,
    not_kept,
  };
}
