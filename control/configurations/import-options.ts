import type { Acting } from '../../domain/access/acting.ts';
import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import { ForeignOptionSchema } from '../../domain/configurations/import-schema.ts';
import { wrongOption } from '../../domain/configurations/option-rules.ts';
import { type Options, OptionsSchema } from '../../domain/configurations/schema.ts';
import { isMusterError } from '../../domain/errors.ts';
import { importMistake, importName, importOutcome, importResult, importWrites } from '../../domain/import-record.ts';
import type { ImportMode, ImportResult } from '../../domain/import-schema.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { type OptionWarningDependencies, optionWarnings } from './option-warnings.ts';
import { type PatchOptionsDependencies, patchOptions } from './patch-options.ts';

export interface ImportOptionsDependencies extends PatchOptionsDependencies, OptionWarningDependencies {}

/**
 * Takes over options of another CFS, each by itself: `{name, value}`. Those that Muster does not have are skipped. Also
 * `default_playbook`, which only version 2 can set: layers without playbook mean it.
 */
export async function importOptions(
  deps: ImportOptionsDependencies,
  by: Acting,
  records: readonly unknown[],
  mode: ImportMode,
): Promise<ImportResult[]> {
  const current = await readOptions(deps.db);
  const results: ImportResult[] = [];
  for (const [index, record] of records.entries()) {
    results.push(await importOne(deps, by, current, record, importName(record, 'name', index), mode));
  }
  return results;
}

async function importOne(
  deps: ImportOptionsDependencies,
  by: Acting,
  current: Options,
  record: unknown,
  name: string,
  mode: ImportMode,
): Promise<ImportResult> {
  const read = ForeignOptionSchema.safeParse(record);
  if (!read.success) return importResult(name, 'failed', [importMistake(read.error.issues)]);
  if (!Object.hasOwn(OptionsSchema.shape, read.data.name)) {
    return importResult(name, 'skipped', ['Muster has no such option']);
  }
  const value = OptionsSchema.partial().safeParse({ [read.data.name]: read.data.value });
  if (!value.success) return importResult(name, 'failed', [importMistake(value.error.issues)]);
  const wrong = wrongOption(value.data);
  if (wrong !== null) return importResult(name, 'failed', [wrong.detail]);
  const before = current[read.data.name as keyof Options];
  // Every option has a value, so none is ever created.
  const outcome = importOutcome(true, before === read.data.value, mode);
  const change = outcome === 'changed' ? [`${shown(before)} becomes ${shown(read.data.value)}`] : [];
  const detail = [...change, ...(await optionWarnings(deps, value.data))];
  if (!importWrites(outcome, mode)) return importResult(name, outcome, detail);
  try {
    await patchOptions(deps, by, value.data);
    return importResult(name, outcome, detail);
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return importResult(name, 'failed', [error.detail]);
  }
}

const shown = (value: unknown): string => JSON.stringify(typeof value === 'string' ? maskAddress(value) : value);
