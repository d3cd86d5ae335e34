import type { Acting } from '../../domain/access/acting.ts';
import { requireComponentSize } from '../../domain/components/component-size.ts';
import { importedComponent } from '../../domain/components/import-component.ts';
import { type ForeignComponent, ForeignComponentSchema } from '../../domain/components/import-schema.ts';
import type { Component } from '../../domain/components/schema.ts';
import { isMusterError } from '../../domain/errors.ts';
import {
  importMistake,
  importName,
  importOutcome,
  importResult,
  importWrites,
  sameJson,
} from '../../domain/import-record.ts';
import type { ImportMode, ImportResult } from '../../domain/import-schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import { lockComponents, upsertComponents } from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { inLockOrder } from './lock-order.ts';

export interface ImportComponentsDependencies {
  db: Db;
  clock(): Date;
}

/**
 * Takes over components of another CFS as it shows them, state and times included, which a PUT would not take. One transaction;
 * one result for each record in its place. Of two with one id the later stands.
 */
export async function importComponents(
  deps: ImportComponentsDependencies,
  by: Acting,
  records: readonly unknown[],
  mode: ImportMode & { enable: boolean },
): Promise<ImportResult[]> {
  const parsed = records.map((record) => ForeignComponentSchema.safeParse(record));
  const ids = [...new Set(parsed.flatMap(({ data }) => data?.id ?? []))];
  const now = deps.clock();
  return deps.db.transaction().execute(async (trx) => {
    const stored = await lockComponents(trx, ids);
    const writes = new Map<string, Component>();
    const results = parsed.map((read, index): ImportResult => {
      const name = importName(records[index], 'id', index);
      if (!read.success) return importResult(name, 'failed', [importMistake(read.error.issues)]);
      return take(read.data, name);
    });
    if (writes.size > 0) await upsertComponents(trx, inLockOrder([...writes.values()]), now, by.actor);
    return results;

    function take(foreign: ForeignComponent, name: string): ImportResult {
      const before = stored.get(foreign.id)?.component;
      const { component, notes } = importedComponent(foreign, before, { now: wireTime(now), enable: mode.enable });
      const mistake = sizeMistake(before, component);
      if (mistake !== null) return importResult(name, 'failed', [mistake]);
      const outcome = importOutcome(before !== undefined, sameJson(component, before), mode);
      if (importWrites(outcome, mode)) writes.set(component.id, component);
      return importResult(name, outcome, outcome === 'equal' ? [] : notes);
    }
  });
}

/** Why a component is too large, or null. */
function sizeMistake(before: Component | undefined, component: Component): string | null {
  const nothing = { ...component, state: [], tags: {} };
  try {
    requireComponentSize(before ?? nothing, component, { state: [], tags: {} });
    return null;
  } catch (error) {
    if (isMusterError(error)) return error.message;
    throw error;
  }
}
