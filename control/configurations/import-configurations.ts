import type { Acting } from '../../domain/access/acting.ts';
import {
  importedConfiguration,
  importedConfigurationMistake,
  importedConfigurationNotes,
} from '../../domain/configurations/import-records.ts';
import { type ForeignConfiguration, ForeignConfigurationSchema } from '../../domain/configurations/import-schema.ts';
import { layersOf } from '../../domain/configurations/layer-rules.ts';
import {
  importMistake,
  importName,
  importOutcome,
  importResult,
  importWrites,
  sameJson,
  withoutAbsent,
} from '../../domain/import-record.ts';
import type { ImportMode, ImportResult } from '../../domain/import-schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import {
  insertConfiguration,
  lockConfiguration,
  updateConfiguration,
} from '../../store/configurations/configurations.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { findSources, holdSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { urlsOf } from './source-urls.ts';

export interface ImportDependencies {
  db: Db;
  clock(): Date;
}

export interface ImportConfigurationsMode extends ImportMode {
  /** Sources that the same import would make: a dry run takes them for existing ones. */
  comingSources: readonly string[];
}

/**
 * Takes over configurations of another CFS with the commits that their branches were resolved to, which a PUT would resolve anew.
 * Each record by itself: one result for each, in its place.
 */
export async function importConfigurations(
  deps: ImportDependencies,
  by: Acting,
  records: readonly unknown[],
  mode: ImportConfigurationsMode,
): Promise<ImportResult[]> {
  const results: ImportResult[] = [];
  for (const [index, record] of records.entries()) {
    const name = importName(record, 'name', index);
    const read = ForeignConfigurationSchema.safeParse(withoutAbsent(record));
    results.push(
      read.success
        ? await importOne(deps, by, read.data, name, mode)
        : importResult(name, 'failed', [importMistake(read.error.issues)]),
    );
  }
  return results;
}

async function importOne(
  { db, clock }: ImportDependencies,
  { actor }: Acting,
  foreign: ForeignConfiguration,
  name: string,
  mode: ImportConfigurationsMode,
): Promise<ImportResult> {
  const now = clock();
  const sources = [...new Set(layersOf(foreign).flatMap(({ layer }) => layer.source ?? []))];
  return db.transaction().execute(async (trx) => {
    const names = new Set([...(await holdSources(trx, sources)), ...(mode.dryRun ? mode.comingSources : [])]);
    const urls = urlsOf(await findSources(trx, sources));
    const mistake = importedConfigurationMistake(foreign, { names, urls }, (await readOptions(trx)).default_playbook);
    if (mistake !== null) return importResult(name, 'failed', [mistake.detail]);
    const stored = (await lockConfiguration(trx, foreign.name))?.record;
    const record = importedConfiguration(foreign, stored, wireTime(now));
    const outcome = importOutcome(stored !== undefined, sameJson(record, stored), mode);
    if (importWrites(outcome, mode)) {
      // One that was made since the look is written over, like one that was there.
      const inserted = stored === undefined && (await insertConfiguration(trx, record, now, actor));
      if (!inserted) await updateConfiguration(trx, record, now, actor);
    }
    return importResult(name, outcome, outcome === 'equal' ? [] : importedConfigurationNotes(record));
  });
}
