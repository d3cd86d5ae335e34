import type { Acting } from '../../domain/access/acting.ts';
import { maskAddress, secretInSource } from '../../domain/configurations/address-secrets.ts';
import { importedSource } from '../../domain/configurations/import-records.ts';
import { type ForeignSource, ForeignSourceSchema } from '../../domain/configurations/import-schema.ts';
import type { Source } from '../../domain/configurations/schema.ts';
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
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { wireTime } from '../../domain/text/times.ts';
import { insertSource, lockSource, updateSource } from '../../store/configurations/sources.ts';
import type { ImportDependencies } from './import-configurations.ts';

export interface ImportSourcesDependencies extends ImportDependencies {
  secrets: Pick<SecretStore, 'list'>;
}

/**
 * Takes over sources of another CFS in the form of a restore: the name of the secret, never its values. A result says which
 * secret has to be set before the source can be used. Each record by itself: one result for each, in its place.
 */
export async function importSources(
  deps: ImportSourcesDependencies,
  by: Acting,
  records: readonly unknown[],
  mode: ImportMode,
): Promise<ImportResult[]> {
  const secrets = new Map((await deps.secrets.list()).map(({ name, keys }) => [name, keys]));
  const results: ImportResult[] = [];
  for (const [index, record] of records.entries()) {
    const name = importName(record, 'name', index);
    const read = ForeignSourceSchema.safeParse(withoutAbsent(record));
    if (!read.success) {
      results.push(importResult(name, 'failed', [importMistake(read.error.issues)]));
      continue;
    }
    const secret = secretInSource(read.data.clone_url);
    if (secret !== null) {
      results.push(importResult(maskAddress(name), 'failed', [secret.detail]));
      continue;
    }
    const { outcome, source } = await importOne(deps, by, read.data, mode);
    results.push(importResult(name, outcome, missingSecret(source, secrets)));
  }
  return results;
}

async function importOne(
  { db, clock }: ImportSourcesDependencies,
  { actor }: Acting,
  foreign: ForeignSource,
  mode: ImportMode,
) {
  const now = clock();
  return db.transaction().execute(async (trx) => {
    const stored = await lockSource(trx, foreign.name);
    const source = importedSource(foreign, stored, wireTime(now));
    const outcome = importOutcome(stored !== undefined, sameJson(source, stored), mode);
    if (importWrites(outcome, mode)) {
      const inserted = stored === undefined && (await insertSource(trx, source, now, actor));
      if (!inserted) await updateSource(trx, source, now, actor);
    }
    return { outcome, source };
  });
}

/** How to set the secret of a source, when it is not there. */
function missingSecret({ credentials: { secret_name } }: Source, secrets: Map<string, string[]>): string[] {
  const missing = ['username', 'password'].filter((key) => !secrets.get(secret_name)?.includes(key));
  if (missing.length === 0) return [];
  const commands = missing.map((key) => `muster secret set ${secret_name} ${key}`);
  return [`its credentials are not here: ${commands.join(' and ')}`];
}
